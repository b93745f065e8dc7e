/// A day of the proleptic Gregorian calendar.
struct CivilDay {
    let year: Int
    let month: Int
    let day: Int

    /// The day so many days after 1970-01-01; exact for every year a 64-bit time can name.
    init(daysSinceEpoch: Int64) {
        // Years are counted from March, so that the leap day ends its year, in cycles of 400 years of 146,097 days.
        let shifted = Int(daysSinceEpoch) + 719_468
        let cycle = floorDivide(Int64(shifted), 146_097)
        let dayOfCycle = shifted - Int(cycle) * 146_097
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfCycle + Int(cycle) * 400 + (month <= 2 ? 1 : 0)
    }

    /// A date that exists, in the years 1 to 9999; nil otherwise.
    init?(year: Int, month: Int, day: Int) {
        guard 1...9999 ~= year, 1...12 ~= month, day >= 1 else { return nil }
        guard day <= Self.length(ofMonth: month, year: year) else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    var daysSinceEpoch: Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let cycle = Int(floorDivide(Int64(marchYear), 400))
        let yearOfCycle = marchYear - cycle * 400
        let marchMonth = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * marchMonth + 2) / 5 + day - 1
        let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
        return Int64(cycle * 146_097 + dayOfCycle - 719_468)
    }

    /// The day of the week, 0 for Monday.
    var weekday: Int {
        // 1970-01-01 was a Thursday.
        let days = daysSinceEpoch + 3
        return Int(days - 7 * floorDivide(days, 7))
    }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        default: 31
        }
    }
}

/// The quotient rounded towards minus infinity, for a positive divisor.
func floorDivide(_ dividend: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
}

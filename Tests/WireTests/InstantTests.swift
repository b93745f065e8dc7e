import Testing

@testable import Wire

@Suite struct InstantTests {
    @Test(
        "Known moments are written with three digits, cut towards the past",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (1, "1970-01-01T00:00:00.000Z"),
            (999_999, "1970-01-01T00:00:00.999Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000Z"),
            (1_796_068_041_123_999, "2026-11-30T19:47:21.123Z"),
            (-62_135_596_800_000_000, "0001-01-01T00:00:00.000Z"),
            (253_402_300_799_999_999, "9999-12-31T23:59:59.999Z"),
            (Int64.min, "0001-01-01T00:00:00.000Z"),
            (Int64.max, "9999-12-31T23:59:59.999Z"),
        ])
    func written(microseconds: Int64, text: String) {
        #expect(Instant(microseconds: microseconds).rfc3339 == text)
        #expect("\(Instant(microseconds: microseconds))" == text)
    }

    @Test(
        "Fractions and offsets of any kind are read into UTC",
        arguments: [
            ("1985-04-12T23:20:50.52Z", 482_196_050_520_000),
            ("1996-12-19T16:39:57-08:00", 851_042_397_000_000),
            ("1937-01-01T12:00:27.87+00:20", -1_041_337_172_130_000),
            ("1970-01-01t00:00:00z", 0),
            ("1970-01-01T00:00:00-00:00", 0),
            ("1970-01-01T00:00:00.000001Z", 1),
            ("1970-01-01T00:00:00.0000019999999999999999999999Z", 1),
            ("1969-12-31T23:59:59.9999999Z", -1),
            ("1970-01-01T23:59:00+23:59", 0),
            ("2024-02-29T12:00:00Z", 1_709_208_000_000_000),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
            ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
        ])
    func read(text: String, microseconds: Int64) {
        #expect(Instant(rfc3339: text)?.microseconds == microseconds)
    }

    @Test(
        "Times that do not exist, and other spellings, are refused",
        arguments: [
            "", "2026-11-30", "2026-11-30T19:47:21", "2026-11-30 19:47:21Z", "2026-11-30T19:47Z",
            "2026-11-30T19:47:21.Z",
            "2026-11-30T19:47:21,5Z", "2026-11-30T24:00:00Z", "2026-11-30T19:60:00Z", "2026-11-30T19:47:60Z",
            "2016-12-31T23:59:60Z", "2026-00-30T19:47:21Z", "2026-13-30T19:47:21Z", "2026-11-31T19:47:21Z",
            "2026-02-29T19:47:21Z", "1900-02-29T00:00:00Z", "2026-11-00T19:47:21Z", "0000-01-01T00:00:00Z",
            "10000-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
            "2026-11-30T19:47:21+0100",
            "2026-11-30T19:47:21+24:00", "2026-11-30T19:47:21+01:60", "2026-11-30T19:47:21+1:00",
            "2026-11-30T19:47:21ZZ",
            "2026-11-30T19:47:21Z ", " 2026-11-30T19:47:21Z", "2026-11-30T19:47:21 01:00", "20261130T194721Z0000",
            "-026-11-30T19:47:21Z", "+026-11-30T19:47:21Z", "2026-11-30T1٩:47:21Z", "2026-11-30T19:47:21.123",
            "2026/11/30T19:47:21Z", "2026-11-30T19.47:21Z", "2026-11-30T19:47:21−01:00",
        ])
    func refused(text: String) {
        #expect(Instant(rfc3339: text) == nil)
    }

    @Test("What is written is read back to the millisecond, all over the calendar")
    func roundTrip() throws {
        var generator = Generator(seed: 3)
        for _ in 0..<2_000 {
            let moment = Instant(microseconds: .random(in: Instant.writable, using: &generator))
            let read = try #require(Instant(rfc3339: moment.rfc3339))
            #expect(read.microseconds == moment.milliseconds * 1_000)
        }
    }

    @Test("Every day of 800 years follows the day before it")
    func calendar() throws {
        let first = try #require(CivilDay(year: 1600, month: 1, day: 1)).daysSinceEpoch
        var days = first
        for year in 1600..<2400 {
            for month in 1...12 {
                for day in 1...31 {
                    guard let date = CivilDay(year: year, month: month, day: day) else { continue }
                    #expect(date.daysSinceEpoch == days)
                    let back = CivilDay(daysSinceEpoch: days)
                    #expect((back.year, back.month, back.day) == (year, month, day))
                    days += 1
                }
            }
        }
        #expect(days - first == 292_194)
    }

    @Test("Durations are added and taken away, and the ends of time hold")
    func arithmetic() {
        let moment = Instant(microseconds: 1_000_000)
        #expect(moment + .milliseconds(1_500) == Instant(microseconds: 2_500_000))
        #expect(moment - .seconds(2) == Instant(microseconds: -1_000_000))
        #expect(moment + .seconds(-2) == Instant(microseconds: -1_000_000))
        #expect(Instant(microseconds: .max) + .microseconds(1) == Instant(microseconds: .max))
        #expect(Instant(microseconds: .min) - .microseconds(1) == Instant(microseconds: .min))
        #expect(moment + .seconds(Int64.max) == Instant(microseconds: .max))
        #expect(moment - .seconds(Int64.max) == Instant(microseconds: .min + 1_000_001))
        #expect(moment + .seconds(Int64.min) == Instant(microseconds: .min + 1_000_000))
        #expect(moment - .seconds(Int64.min) == Instant(microseconds: .max))
    }

    @Test("The time between two moments is exact, also between the ends of time")
    func between() {
        let moment = Instant(microseconds: 5)
        #expect(moment.duration(since: Instant(microseconds: 2)) == .microseconds(3))
        #expect(Instant(microseconds: 2).duration(since: moment) == .microseconds(-3))
        let longest = Instant(microseconds: .max).duration(since: Instant(microseconds: .min))
        #expect(longest == .microseconds(Int64.max) + .microseconds(Int64.max) + .microseconds(1))
    }

    @Test("Seconds and milliseconds are rounded towards the past")
    func rounded() {
        #expect(Instant(microseconds: -1).milliseconds == -1)
        #expect(Instant(microseconds: -1).seconds == -1)
        #expect(Instant(microseconds: -1_000_000).seconds == -1)
        #expect(Instant(microseconds: 1_999_999).milliseconds == 1_999)
        #expect(Instant(microseconds: 1_999_999).seconds == 1)
        #expect(Instant(microseconds: 1) < Instant(microseconds: 2))
    }
}

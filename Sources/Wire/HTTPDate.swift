/// Dates of HTTP headers in the one form that may be sent, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
public enum HTTPDate {
    private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The second in which a moment lies; moments outside the years 0001–9999 as the nearest edge.
    public static func format(_ instant: Instant) -> String {
        let seconds = instant.bounded.seconds
        let days = floorDivide(seconds, 86_400)
        let date = CivilDay(daysSinceEpoch: days)
        let time = Int(seconds - days * 86_400)
        var bytes = Array(weekdays[date.weekday].utf8)
        bytes.reserveCapacity(29)
        bytes += [Ascii.comma, Ascii.space]
        bytes.appendDecimal(date.day, digits: 2, then: " ")
        bytes += months[date.month - 1].utf8
        bytes.append(Ascii.space)
        bytes.appendDecimal(date.year, digits: 4, then: " ")
        bytes.appendDecimal(time / 3_600, digits: 2, then: ":")
        bytes.appendDecimal(time / 60 % 60, digits: 2, then: ":")
        bytes.appendDecimal(time % 60, digits: 2, then: " ")
        bytes += "GMT".utf8
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Nil for the obsolete forms, a date that does not exist or the wrong day of the week for it.
    public static func parse(_ text: String) -> Instant? {
        let span = text.utf8.span
        guard span.count == 29,
            let day = span.decimal(at: 5, count: 2),
            let year = span.decimal(at: 12, count: 4),
            let month = months.firstIndex(where: { text.utf8.dropFirst(8).starts(with: $0.utf8) }),
            let date = CivilDay(year: year, month: month + 1, day: day),
            let hour = span.decimal(at: 17, count: 2), hour < 24,
            let minute = span.decimal(at: 20, count: 2), minute < 60,
            let second = span.decimal(at: 23, count: 2), second < 60
        else { return nil }
        let seconds = date.daysSinceEpoch * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
        let instant = Instant(microseconds: seconds * 1_000_000)
        // A moment has one spelling, so writing it again checks the day of the week and every separator.
        return sameBytes(format(instant), text) ? instant : nil
    }
}

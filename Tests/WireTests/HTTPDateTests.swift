import Testing

@testable import Wire

@Suite struct HTTPDateTests {
    @Test(
        "Known dates are written and read",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_796_068_041, "Mon, 30 Nov 2026 19:47:21 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ])
    func known(seconds: Int64, text: String) {
        let moment = Instant(microseconds: seconds * 1_000_000)
        #expect(HTTPDate.format(moment) == text)
        #expect(HTTPDate.parse(text) == moment)
    }

    @Test(
        "Other forms, wrong weekdays and dates that do not exist are refused",
        arguments: [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 6 Nov 1994 08:49:37 GMT",
            "Mon, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 gmt",
            "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:60 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Thu, 30 Feb 2023 00:00:00 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
            "Sun; 06 Nov 1994 08:49:37 GMT", "Sat, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT",
            "Sat, 01 Jan 0000 00:00:00 GMT", "Sun, 06 Nov 1994 -8:49:37 GMT",
        ])
    func refused(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    @Test("Every moment is read back to the second in which it lies")
    func roundTrip() {
        var generator = Generator(seed: 5)
        for _ in 0..<1_000 {
            let moment = Instant(microseconds: .random(in: Instant.writable, using: &generator))
            #expect(HTTPDate.parse(HTTPDate.format(moment))?.microseconds == moment.seconds * 1_000_000)
        }
    }
}

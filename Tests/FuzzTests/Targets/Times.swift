@testable import Wire

extension FuzzTarget {
    static let times = [
        FuzzTarget("instant", longest: 48) { bytes in
            guard let instant = Instant(rfc3339: bytes.anyText) else { return }
            expect(Instant.writable.contains(instant.microseconds), "a moment that was read can be written")
            let text = instant.rfc3339
            expect(text.utf8.count == 24, "a moment takes 24 bytes")
            guard let again = Instant(rfc3339: text) else { return expect(false, "what is written can be read") }
            expect(again.milliseconds == instant.milliseconds, "what is written is the same millisecond")
            expect(same(again.rfc3339, text), "a millisecond has one spelling")
        },
        FuzzTarget("instant-sums", longest: 32) { bytes in
            var bytes = bytes
            let instant = Instant(microseconds: Int64(bitPattern: bytes.takeNumber()))
            let other = Instant(microseconds: Int64(bitPattern: bytes.takeNumber()))
            let change = Duration(
                secondsComponent: Int64(bitPattern: bytes.takeNumber()),
                attosecondsComponent: Int64(bitPattern: bytes.takeNumber()) % 1_000_000_000_000_000_000)
            let isLater = change >= .zero
            expect(isLater ? instant + change >= instant : instant + change <= instant, "adding goes the right way")
            expect(isLater ? instant - change <= instant : instant - change >= instant, "and so does taking away")
            let gap = instant.bounded.duration(since: other.bounded)
            expect(other.bounded + gap == instant.bounded, "what lies between two moments leads to the later one")
            expect(Instant(rfc3339: instant.rfc3339) != nil, "every moment has a text")
            expect(HTTPDate.parse(HTTPDate.format(instant))?.seconds == instant.bounded.seconds, "and a date")
        },
        FuzzTarget("http-date", longest: 40) { bytes in
            guard let instant = HTTPDate.parse(bytes.anyText) else { return }
            expect(same(HTTPDate.format(instant), bytes.anyText), "a second has one spelling")
        },
    ]
}

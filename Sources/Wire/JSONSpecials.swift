extension Span where Element == UInt8 {
    /// Where the next byte is that cannot stand for itself in a JSON string: quote, backslash or a control character.
    ///
    /// Most of what we carry is long runs of base64, so eight bytes are looked at together.
    func nextJSONSpecial(from start: Int) -> Int? {
        var index = start
        while index + 8 <= count, !Self.hasSpecial(bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)) {
            index += 8
        }
        while index < count {
            if self[index].isJSONSpecial { return index }
            index += 1
        }
        return nil
    }

    /// Whether one of eight bytes is special.
    ///
    /// Subtracting n from every byte borrows out of those below n, and so sets top bits that were not set before; the
    /// first such byte is always right, and a wrong one can only follow a right one.
    private static func hasSpecial(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops = ones << 7
        let quotes = word ^ (ones &* UInt64(Ascii.quote))
        let backslashes = word ^ (ones &* UInt64(Ascii.backslash))
        let controls = (word &- ones &* UInt64(Ascii.space)) & ~word
        return (controls | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes) & tops != 0
    }
}

extension UInt8 {
    var isJSONSpecial: Bool {
        self < Ascii.space || self == Ascii.quote || self == Ascii.backslash
    }
}

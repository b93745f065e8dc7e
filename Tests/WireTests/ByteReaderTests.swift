import Testing

@testable import Wire

@Suite struct ByteReaderTests {
    @Test("Values have fixed bytes, the most significant first")
    func shapes() {
        var writer = ByteWriter()
        writer.byte(1)
        writer.uint32(0x0203_0405)
        writer.uint64(0x0607_0809_0A0B_0C0D)
        writer.varint(300)
        writer.bytes([0xAA, 0xBB])
        writer.raw([0xCC])
        #expect(writer.finish() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0xAC, 0x02, 2, 0xAA, 0xBB, 0xCC])
    }

    @Test("Everything written is read back, then the end is reached, and no beginning is enough")
    func roundTrip() throws {
        var generator = Generator(seed: 12)
        for _ in 0..<200 {
            let uuid = UUID(high: generator.next(), low: generator.next())
            let number = generator.next() >> UInt64(generator.number(below: 64))
            let bytes = generator.bytes(generator.number(below: 200))
            var writer = ByteWriter()
            writer.byte(UInt8(truncatingIfNeeded: number))
            writer.uint32(UInt32(truncatingIfNeeded: number))
            writer.uint64(number)
            writer.varint(number)
            writer.uuid(uuid)
            writer.bytes(bytes)
            let whole = writer.finish()

            var reader = ByteReader(whole)
            #expect(try reader.byte() == UInt8(truncatingIfNeeded: number))
            #expect(try reader.uint32() == UInt32(truncatingIfNeeded: number))
            #expect(try reader.uint64() == number)
            #expect(try reader.varint() == number)
            #expect(try reader.uuid() == uuid)
            #expect(!reader.isAtEnd)
            #expect(try reader.bytes() == bytes)
            #expect(reader.isAtEnd)
            try reader.end()

            let end = generator.number(below: whole.count)
            #expect(throws: ByteReader.Fault.short) { try readAll(Array(whole[..<end])) }
            #expect(throws: ByteReader.Fault.leftOver) { try readAll(whole + [0]) }
        }
    }

    @Test(
        "Varints at the edges have the shortest form",
        arguments: [
            (0, 1), (0x7F, 1), (0x80, 2), (0x3FFF, 2), (0x4000, 3), (1 << 62, 9), (1 << 63, 10), (UInt64.max, 10),
        ])
    func varints(value: UInt64, length: Int) throws {
        var writer = ByteWriter()
        writer.varint(value)
        let bytes = writer.finish()
        var reader = ByteReader(bytes)
        #expect(bytes.count == length)
        #expect(try reader.varint() == value)
    }

    @Test(
        "Varints in a second spelling, too large or cut off are refused",
        arguments: [
            ([0x80, 0x00], .badVarint), ([0xFF, 0x80, 0x00], .badVarint),
            ([UInt8](repeating: 0xFF, count: 9) + [0x02], .badVarint),
            ([UInt8](repeating: 0xFF, count: 10), .badVarint),
            ([UInt8](repeating: 0x80, count: 9) + [0x00], .badVarint), ([0x80], .short), ([], .short),
        ] as [([UInt8], ByteReader.Fault)])
    func badVarints(bytes: [UInt8], fault: ByteReader.Fault) {
        var reader = ByteReader(bytes)
        #expect(throws: fault) { try reader.varint() }
        #expect(reader.remaining == bytes.count)
    }

    @Test(
        "A length that the bytes do not hold is refused and moves nothing",
        arguments: [
            [1], [5, 1, 2], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 7],
        ] as [[UInt8]])
    func badLengths(bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        #expect(throws: ByteReader.Fault.short) { try reader.bytes() }
        #expect(throws: ByteReader.Fault.short) { try reader.raw(-1) }
        #expect(throws: ByteReader.Fault.short) { try reader.raw(bytes.count + 1) }
        #expect(throws: ByteReader.Fault.short) { try reader.uuid() }
        #expect(reader.remaining == bytes.count)
    }

    private func readAll(_ bytes: [UInt8]) throws {
        var reader = ByteReader(bytes)
        _ = (
            try reader.byte(), try reader.uint32(), try reader.uint64(), try reader.varint(), try reader.uuid(),
            try reader.bytes()
        )
        try reader.end()
    }
}

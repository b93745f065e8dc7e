import Crypto
import Testing
import Wire

@Suite struct HashTests {
    @Test func `SHA-256 of abc is the published one`() {
        let digest = SHA256.hash(Array("abc".utf8))
        #expect(Hex.encode(digest) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test(arguments: [
        ("", "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"),
        ("abc", "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"),
    ])
    func `BLAKE2b-256 gives the known digests`(text: String, digest: String) {
        #expect(Hex.encode(BLAKE2b.hash(Array(text.utf8))) == digest)
    }

    @Test(arguments: [
        (32, 0, "4e51e7a913fc80137da52880fecca175bf81e117d5c68126dc2774033517ea0d"),
        (32, 1, "41ff93a4eaeebd3b78a93438a6f62a92ab5959c859e682b72c7def406197ca4d"),
        (32, 128, "138893f1631ef3165629515d6ed800da3771b7926dced294205c7507351deebc"),
        (32, 129, "ca60f75cbb714330c046d8f28b4ed351a3ee81776bb02a96abb646fe573e3d5c"),
        (32, 255, "f60f5c4a575c43db6c93608515866ea998e04b35792f5a92b27aa5880cd6721e"),
        (64, 0, "2fa9fbd9be36437de204e139e97d402bce68c828f43391608c891b5faed8a98a"),
        (64, 1, "34758b647135628297fb09c7930cd04e9528e5669112f5b1318493e14de77e55"),
        (64, 255, "fe7b76a61787c089141f9e10fca1e5092488d89c62ea793fb2c5b1f849b4f2cb"),
    ])
    func `keyed BLAKE2b agrees with another implementation over counting bytes`(
        keySize: Int, size: Int, digest: String
    ) {
        let hash = KeyedHash(key: SecretBytes(copying: (0..<keySize).map { UInt8($0) }))
        #expect(Hex.encode(hash.hash((0..<size).map { UInt8($0) })) == digest)
    }

    @Test func `a keyed hash matches its own bytes and refuses every changed bit`() {
        let hash = countingRootKey().subkey(.refreshToken)
        let token = SystemEntropy().bytes(32)
        let stored = hash.hash(token)
        #expect(hash.matches(token, hash: stored))
        for bit in 0..<256 {
            var changed = stored
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!hash.matches(token, hash: changed))
        }
        #expect(!hash.matches(token, hash: Array(stored.dropLast())))
        #expect(!hash.matches(token, hash: []))
        #expect(!countingRootKey().subkey(.deviceSecret).matches(token, hash: stored))
    }

    @Test func `a text is hashed as its UTF-8`() {
        let hash = countingRootKey().subkey(.throttle)
        #expect(hash.hash("Zoë") == hash.hash([0x5a, 0x6f, 0xc3, 0xab]))
    }

    @Test(
        arguments: [
            ([], [], true), ([1], [1], true), ([1, 2], [1, 2], true), ([1], [2], false), ([1], [], false),
            ([1, 2], [1], false), ([1, 2], [2, 1], false),
        ] as [([UInt8], [UInt8], Bool)])
    func `constant-time comparison answers like the plain one`(one: [UInt8], other: [UInt8], same: Bool) {
        #expect(ConstantTime.equal(one, other) == same)
    }
}

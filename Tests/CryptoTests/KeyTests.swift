import Crypto
import Testing
import Wire

@Suite struct KeyTests {
    @Test(arguments: [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ])
    func `RFC 8032 tests 1 to 3 hold`(seed: String, publicKey: String, message: String, signature: String) throws {
        let key = try #require(SigningKey(seed: bytes(seed)))
        #expect(Hex.encode(key.publicKey) == publicKey)
        #expect(try Hex.encode(key.sign(bytes(message))) == signature)
        #expect(
            try Ed25519.verify(signature: bytes(signature), message: bytes(message), publicKey: bytes(publicKey)))
        #expect(Ed25519.isAcceptable(publicKey: key.publicKey))
    }

    @Test(arguments: [0, 31, 33, 64]) func `a seed of another length makes no key`(size: Int) {
        #expect(SigningKey(seed: [UInt8](repeating: 7, count: size)) == nil)
    }

    @Test func `a signature is refused for another message, key, length or any changed bit`() throws {
        let key = SigningKey.generate()
        let signature = key.sign([1, 2, 3])
        let verify = Ed25519.verify(signature:message:publicKey:)
        #expect(verify(signature, [1, 2, 3], key.publicKey))
        #expect(!verify(signature, [1, 2], key.publicKey))
        #expect(!verify(signature, [1, 2, 3], SigningKey.generate().publicKey))
        #expect(!verify(signature, [1, 2, 3], Array(key.publicKey.dropLast())))
        #expect(!verify(Array(signature.dropLast()), [1, 2, 3], key.publicKey))
        #expect(!verify(signature + [0], [1, 2, 3], key.publicKey))
        #expect(!verify([], [1, 2, 3], key.publicKey))
        for bit in 0..<512 {
            var changed = signature
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!verify(changed, [1, 2, 3], key.publicKey))
        }
    }

    @Test func `a signature with the group order added to its scalar is refused`() throws {
        let malleated = try bytes(
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901554c8c7872aa064e049dbb3013fbf29380d25bf5f0595bbe24655141438e7a101b"
        )
        #expect(!Ed25519.verify(signature: malleated, message: [], publicKey: try rfcKey().publicKey))
    }

    @Test func `the neutral element signs nothing`() throws {
        let neutral = try bytes("0100000000000000000000000000000000000000000000000000000000000000")
        let signature = neutral + [UInt8](repeating: 0, count: 32)
        #expect(!Ed25519.verify(signature: signature, message: [1], publicKey: neutral))
    }

    @Test(arguments: [
        // The eight points of low order.
        "0100000000000000000000000000000000000000000000000000000000000000",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        // Their other encodings: a sign where x is zero, a y not below the prime.
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        // The point with y = 3, encoded as the prime plus 3; no point at all; every bit set.
        "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0200000000000000000000000000000000000000000000000000000000000000",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        // RFC 8032 test 1's key plus each point of low order: outside the prime-order subgroup.
        "9158312a9a8d6e3b34c891d6d61444f8b8211c5117ebad15bdb0bd68b07e0245",
        "ad38a8f0b22ab7ca46ecee7bbef12b5f336c182652fac34392f859dbd9666a7d",
        "3b5b475c4b82dd1572799fc546f4c6c03e478c6654aa4c7f945b347ea32af60d",
        "16a567fe7d4ef5482ab4012c369bf8c5f11e8d0c2559dcda50fde59708f8aee5",
        "5ca7ced5657291c4cb376e2929ebbb0747dee3aee81452ea424f42974f81fdba",
        "40c7570f4dd54835b9131184410ed4a0cc93e7d9ad053cbc6d07a62426999582",
        "b2a4b8a3b47d22ea8d86603ab90b393fc1b87399ab55b3806ba4cb815cd509f2",
    ])
    func `an Ed25519 key of low or mixed order, not canonical or off the curve is refused`(key: String) throws {
        #expect(try !Ed25519.isAcceptable(publicKey: bytes(key)))
    }

    @Test(arguments: [
        // The published points of low order, then the canonical ones again with the ignored top bit set.
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "cdeb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b880",
        "4c9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f11d7",
        "d9ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "daffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "dbffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b880",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f11d7",
        // Good points in an encoding that is not canonical: 9 plus the prime, 9 with the top bit.
        "f6ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0900000000000000000000000000000000000000000000000000000000000080",
    ])
    func `an X25519 key of low order or not canonical is refused`(key: String) throws {
        #expect(try !X25519.isAcceptable(publicKey: bytes(key)))
    }

    @Test(arguments: [
        "0900000000000000000000000000000000000000000000000000000000000000",
        // RFC 7748 §6.1, both sides.
        "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
        "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
        "ebffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f7f",
        "edfffffffffffffffffffffffffffffffeffffffffffffffffffffffffffff7f",
    ])
    func `a good X25519 key is taken, up to the last below the prime`(key: String) throws {
        #expect(try X25519.isAcceptable(publicKey: bytes(key)))
    }

    @Test(arguments: [0, 31, 33, 64]) func `a public key of another length is refused`(size: Int) {
        #expect(!Ed25519.isAcceptable(publicKey: [UInt8](repeating: 9, count: size)))
        #expect(!X25519.isAcceptable(publicKey: [UInt8](repeating: 9, count: size)))
    }

    @Test func `every generated key is acceptable`() {
        for _ in 0..<50 {
            #expect(Ed25519.isAcceptable(publicKey: SigningKey.generate().publicKey))
        }
    }

    @Test func `a sealed signing key opens as the same key, and only with its root key`() throws {
        let key = SigningKey.generate()
        let root = countingRootKey()
        let sealed = key.sealed(by: root.subkey(.sealing))
        let opened = try SigningKey(opening: sealed, by: root.subkey(.sealing))
        #expect(opened.publicKey == key.publicKey)
        #expect(opened.keyID == key.keyID)
        #expect(opened.sign([1]) == key.sign([1]))
        let stranger = RootKey(SecretBytes(random: RootKey.size)).subkey(.sealing)
        #expect(throws: SealingFault.self) { try SigningKey(opening: sealed, by: stranger) }
        let other = root.subkey(.sealing).seal([UInt8](repeating: 1, count: 32), for: "something else")
        #expect(throws: SealingFault.self) { try SigningKey(opening: other, by: root.subkey(.sealing)) }
    }

    @Test func `the key id is the thumbprint of RFC 8037 A.3`() throws {
        #expect(try rfcKey().keyID == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    }

    @Test func `a JWKS lists public members in a fixed order`() throws {
        let key = try rfcKey()
        let text = String(decoding: JWK.set([key.keyID: key.publicKey]), as: UTF8.self)
        #expect(
            text == #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","#
                + #""kid":"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k","use":"sig","alg":"EdDSA"}]}"#)
        let several = Dictionary(uniqueKeysWithValues: ["c", "a", "b"].map { ($0, key.publicKey) })
        let parsed = try JSON.parse(JWK.set(several))
        #expect(parsed["keys"]?.items?.compactMap { $0["kid"]?.text } == ["a", "b", "c"])
        #expect(String(decoding: JWK.set([:]), as: UTF8.self) == #"{"keys":[]}"#)
    }
}

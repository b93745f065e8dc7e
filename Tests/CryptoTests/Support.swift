import Crypto
import Testing
import Wire

/// The bytes of a hexadecimal literal; a mistyped one fails the test.
func bytes(_ hex: String) throws -> [UInt8] {
    try #require(Hex.decode(hex))
}

/// The root key 00 01 … 1f that the fixed expectations of these tests were made with.
func countingRootKey() -> RootKey {
    RootKey(SecretBytes(copying: Array(0..<32)))
}

/// The key of RFC 8032 test 1, which RFC 8037 uses as well.
func rfcKey() throws -> SigningKey {
    try #require(SigningKey(seed: bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")))
}

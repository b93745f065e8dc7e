import Crypto
import Domain
import Glibc
import Wire

/// Signs access tokens as the server does, with its own key: the sealed seed of its database opened by its root key.
///
/// Standard input has a line for each: account, session, app, role and scopes, with tabs between; standard output gets the
/// tokens in that order.
struct Tokens {
    private let key: SigningKey
    private let issuer: String
    private let life: Int64

    init(_ options: Options) throws(BenchFault) {
        issuer = try options.text("issuer")
        life = try options.number("life", or: 600)
        guard let sealed = Base64.decode(try options.text("sealed-key")) else {
            throw BenchFault("--sealed-key is no base64")
        }
        key = try Self.open(sealed, rootKey: try options.text("root-key"))
    }

    private static func open(_ sealed: [UInt8], rootKey path: String) throws(BenchFault) -> SigningKey {
        do {
            return try SigningKey(opening: sealed, by: RootKey.load(path: path).subkey(.sealing))
        } catch {
            throw BenchFault("the signing key does not open: \(error)")
        }
    }

    func run() throws(BenchFault) {
        let now = Int64(time(nil))
        var lines: [UInt8] = []
        while let line = readLine() {
            let parts = line.split(separator: "\t").map(String.init)
            guard parts.count == 5 else { throw BenchFault("'\(line)' is not account, session, app, role, scopes") }
            lines += JWS.sign(type: "at+jwt", payload: payload(parts, now), key: key).utf8
            lines.append(0x0A)
        }
        Output.write(lines, to: STDOUT_FILENO)
    }

    /// The claims of RFC 9068.
    private func payload(_ parts: [String], _ now: Int64) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        writer.field("iss", issuer)
        writer.field("sub", parts[0])
        writer.field("aud", issuer)
        writer.field("client_id", parts[2])
        writer.field("sid", parts[1])
        writer.field("jti", UUID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)))
        writer.field("iat", now)
        writer.field("exp", now + life)
        writer.field("scope", parts[4])
        writer.field("role", parts[3])
        writer.endObject()
        return writer.finish()
    }
}

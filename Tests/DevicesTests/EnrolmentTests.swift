import API
import Crypto
import Domain
import HTTP
import Testing
import Wire

@testable import Devices

/// The public key that passes is that of RFC 8037, appendix A.2.
@Suite struct EnrolmentTests {
    @Test("Every field that is wrong is named, and fields that nobody knows")
    func faults() throws {
        let body = #"{"name": "", "platform": "BeOS", "identityKey": "AAAA", "signature": 5, "privateKey": "x"}"#
        let failure = #expect(throws: Failure.self) { try parse(body) }
        guard case .invalid(let faults) = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
        let pointers = Set(faults.map(\.pointer))
        #expect(pointers == ["/name", "/platform", "/identityKey", "/agreementKey", "/signature", "/privateKey"])
    }

    @Test("A low-order or non-canonical key is no proof, whatever was signed", arguments: [0, 1, 0xFF] as [UInt8])
    func weakKeys(fill: UInt8) throws {
        var key = [UInt8](repeating: fill == 0xFF ? 0xFF : 0, count: 32)
        if fill == 1 { key[0] = 1 }
        let flaw = try parse(body(identityKey: key)).flaw(
            issuer: "https://id.example", account: account, session: session)
        #expect(flaw == .identityKey)
        guard case .invalid(let faults)? = flaw?.failure else {
            Issue.record("a flaw that names no field")
            return
        }
        #expect(faults.map(\.pointer) == ["/identityKey"])
    }

    @Test("A low-order agreement key and a foreign signature are told apart")
    func otherFlaws() throws {
        let point = try #require(Base64.decode("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="))
        let weak = try parse(body(identityKey: point, agreementKey: [UInt8](repeating: 0, count: 32)))
        #expect(weak.flaw(issuer: "https://id.example", account: account, session: session) == .agreementKey)
        let foreign = try parse(body(identityKey: point))
        #expect(foreign.flaw(issuer: "https://id.example", account: account, session: session) == .signature)
    }

    private let account = AccountID(UUID(high: 1, low: 2))
    private let session = SessionID(UUID(high: 3, low: 4))

    private func body(identityKey: [UInt8], agreementKey: [UInt8]? = nil) -> String {
        let agreement = agreementKey ?? [9] + [UInt8](repeating: 0, count: 31)
        let fields: JSON = [
            "name": "Phone", "platform": "iOS", "identityKey": .string(Base64.encode(identityKey)),
            "agreementKey": .string(Base64.encode(agreement)),
            "signature": .string(Base64.encode([UInt8](repeating: 7, count: 64))),
        ]
        return fields.description
    }

    private func parse(_ body: String) throws(Failure) -> Enrolment {
        let head = RequestHead(method: .post, rawPath: "/v1/devices", peer: Address(bytes: [127, 0, 0, 1], port: 1))
        return try Request(head: head, body: Array(body.utf8)).parse { Enrolment(&$0) }
    }
}

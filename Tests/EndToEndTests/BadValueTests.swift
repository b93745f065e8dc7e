import Application
import Crypto
import Domain
import TestKit
import Testing
import Wire

/// Values that only their own endpoint can judge: keys, signatures, ids, positions.
@Suite struct BadValueTests {
    private static let zeros = [UInt8](repeating: 0, count: 32)
    private static let ones = [UInt8](repeating: 0xFF, count: 32)

    /// Points of Ed25519 that are of small order, not canonical, or on no curve.
    private static let identityKeys: [[UInt8]] = [
        zeros, [1] + zeros.dropLast(), [0xEC] + ones.dropFirst().dropLast() + [0x7F],
        [0xED] + ones.dropFirst().dropLast() + [0x7F], [0xEE] + ones.dropFirst().dropLast() + [0x7F], ones,
        Hex.decode("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05") ?? [],
        Hex.decode("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a") ?? [],
        [2] + zeros.dropLast(),
    ]

    /// Points of X25519 that are of small order or not canonical.
    private static let agreementKeys: [[UInt8]] = [
        zeros, [1] + zeros.dropLast(), [0xEC] + ones.dropFirst().dropLast() + [0x7F],
        [0xED] + ones.dropFirst().dropLast() + [0x7F], [0xEE] + ones.dropFirst().dropLast() + [0x7F], ones,
        Hex.decode("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800") ?? [],
        Hex.decode("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157") ?? [],
    ]

    @Test("Keys and signatures of the wrong length, and what is no base64, are refused by name")
    func lengths() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let good = cast.member.enrolment(for: cast.bare)
            let before = try await Snapshot.of(server)
            for (field, size) in [("identityKey", 32), ("agreementKey", 32), ("signature", 64)] {
                let right = good[field]?.text ?? ""
                let lengths = [0, 1, size - 1, size + 1, 33, 64, 1_024].filter { $0 != size }
                var texts = lengths.map { Base64.encode([UInt8](repeating: 9, count: $0)) }
                texts += [
                    String(right.drop { $0 == "=" }.prefix { $0 != "=" }), right + "=", right + "\n", " " + right,
                    "=" + right, Hex.encode(Self.ones), "é" + right.dropFirst(), "-_" + right.dropFirst(2),
                ]
                for text in texts {
                    let answer = try await cast.bare.call("POST", "/v1/devices", good.with(field, .string(text)))
                    #expect(answer.status == 400, "\(field) \(text): \(answer.text)")
                    #expect(answer.pointers == ["/\(field)"], "\(field) \(text): \(answer.text)")
                }
            }
            #expect(try await Snapshot.of(server).changes(since: before) == [])
        }
    }

    @Test("Keys of low order or in another spelling enrol nothing, though their signature may verify")
    func lowOrder() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let good = cast.member.enrolment(for: cast.bare)
            let before = try await Snapshot.of(server)
            for key in Self.identityKeys {
                // With a small key this signature would pass a careless check for half of all texts.
                let body = good.with("identityKey", .string(Base64.encode(key)))
                    .with("signature", .string(Base64.encode(Self.zeros + Self.zeros)))
                let answer = try await cast.bare.call("POST", "/v1/devices", body)
                #expect(
                    answer.status == 400 && answer.pointers == ["/identityKey"], "\(Hex.encode(key)) \(answer.text)")
            }
            for key in Self.agreementKeys {
                let body = cast.member.enrolment(for: cast.bare, agreementKey: key)
                let answer = try await cast.bare.call("POST", "/v1/devices", body)
                #expect(
                    answer.status == 400 && answer.pointers == ["/agreementKey"], "\(Hex.encode(key)) \(answer.text)")
            }
            #expect(try await Snapshot.of(server).changes(since: before) == ["audit_entry"])
        }
    }

    @Test("A signature for another session, account, key or server is refused, and so is one with a bit turned")
    func signatures() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let good = cast.member.enrolment(for: cast.bare)
            let otherKey = SystemEntropy().bytes(32)
            var signatures = [
                cast.member.enrolment(for: cast.member.owner)["signature"],
                cast.member.enrolment(for: cast.other.owner)["signature"],
                cast.other.enrolment(for: cast.bare)["signature"],
                cast.member.enrolment(for: cast.bare, agreementKey: otherKey)["signature"],
            ].compactMap { $0?.text.flatMap(Base64.decode) }
            let right = try #require(good["signature"]?.text.flatMap(Base64.decode))
            for bit in [0, 255, 256, 511] {
                var turned = right
                turned[bit / 8] ^= 1 << (bit % 8)
                signatures.append(turned)
            }
            // The same number plus the order of the group: another spelling of a good signature.
            signatures.append(right.prefix(32) + Self.plusOrder(right.suffix(32)))
            let before = try await Snapshot.of(server)
            for signature in signatures {
                let body = good.with("signature", .string(Base64.encode(signature)))
                let answer = try await cast.bare.call("POST", "/v1/devices", body)
                #expect(answer.status == 400 && answer.pointers == ["/signature"], "\(answer.text)")
            }
            let foreign = EnrolmentProof.message(
                issuer: "http://elsewhere.test", accountID: AccountID(cast.bare.account),
                sessionID: SessionID(cast.bare.session), identityKey: cast.member.identity.publicKey,
                agreementKey: cast.member.agreementKey)
            let body = good.with("signature", .string(Base64.encode(cast.member.identity.sign(foreign))))
            #expect(try await cast.bare.call("POST", "/v1/devices", body).pointers == ["/signature"])
            #expect(try await Snapshot.of(server).changes(since: before) == ["audit_entry"])
        }
    }

    private static func plusOrder(_ scalar: ArraySlice<UInt8>) -> [UInt8] {
        let order = Hex.decode("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010") ?? []
        var carry = 0
        return zip(scalar, order).map { left, right in
            carry += Int(left) + Int(right)
            defer { carry >>= 8 }
            return UInt8(truncatingIfNeeded: carry)
        }
    }

    @Test("A private key has no field anywhere: nothing named like one is taken")
    func privateKeys() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            for name in ["privateKey", "secretKey", "identitySecret", "seed", "recoveryKey"] {
                let body = cast.member.enrolment(for: cast.bare).with(name, .string(Base64.encode(Self.ones)))
                #expect(try await cast.bare.call("POST", "/v1/devices", body).pointers == ["/\(name)"])
            }
        }
    }

    @Test("Messages to devices, accounts and key versions that are not the recipient's are refused whole")
    func recipients() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let unknown = SystemEntropy().uuid(at: server.clock.now())
            let (to, bob) = (cast.recipient.owner.account, cast.other)
            let cases: [(to: [(account: UUID, devices: [UUID])], status: Int, pointer: String?)] = [
                ([(to, [])], 400, "/recipients"), ([(to, [bob.id])], 409, nil), ([(to, [unknown])], 409, nil),
                ([(to, [cast.recipient.id, bob.id])], 409, nil),
                ([(to, [cast.recipient.id, cast.recipient.id])], 400, "/recipients/0/envelopes/1/deviceId"),
                ([(to, [cast.recipient.id]), (to, [cast.recipient.id])], 400, "/recipients/1/accountId"),
                ([(unknown, [unknown])], 404, "/recipients/0/accountId"),
                ([(to, [cast.recipient.id]), (unknown, [unknown])], 404, "/recipients/1/accountId"),
                // Ids are of one kind only: a device is no account, and the sending device no recipient.
                ([(bob.id, [bob.id])], 404, "/recipients/0/accountId"),
                ([(cast.member.owner.account, [cast.member.id])], 409, nil),
            ]
            let before = try await Snapshot.of(server)
            for (recipients, status, pointer) in cases {
                let id = SystemEntropy().uuid(at: server.clock.now())
                let body = cast.member.message(id, to: recipients, text: "x")
                let answer = try await cast.member.owner.call("POST", "/v1/messages", body)
                #expect(answer.status == status, "\(recipients): \(answer.text)")
                if let pointer { #expect(answer.pointers == [pointer], "\(answer.text)") }
                if status == 409 { #expect(answer.problem == "/problems/device-set-mismatch") }
            }
            #expect(try await Snapshot.of(server).changes(since: before) == [])
        }
    }

    @Test("Ciphertext over the limit, more envelopes than allowed and an expiry in the past are refused by name")
    func messageLimits() async throws {
        try await TestServer.with({ $0.envelopes = 2 }) { server in
            let cast = try await Cast.gather(on: server)
            let line = try Matrix.line("POST /v1/messages")
            let good = try #require(try await Requests.call(line, cast, for: .member).json)
            func refused(_ body: JSON, at pointer: String) async throws {
                let answer = try await cast.member.owner.call("POST", "/v1/messages", body)
                #expect(answer.status == 400 && answer.pointers == [pointer], "\(answer.status) \(answer.text)")
            }
            let before = try await Snapshot.of(server)
            let long = String(repeating: "x", count: server.settings.ciphertextBytes + 1)
            let id = SystemEntropy().uuid(at: server.clock.now())
            let recipients = [(account: cast.recipient.owner.account, devices: [cast.recipient.id])]
            try await refused(
                cast.member.message(id, to: recipients, text: long), at: "/recipients/0/envelopes/0/ciphertext")
            try await refused(
                cast.member.message(id, to: recipients, text: ""), at: "/recipients/0/envelopes/0/ciphertext")
            for time in ["2020-01-01T00:00:00.000Z", "tomorrow", "2030-02-30T00:00:00.000Z", "1893456000", ""] {
                try await refused(good.with("expiresAt", .string(time)), at: "/expiresAt")
            }
            let three = [cast.recipient.id, cast.other.id, cast.member.id]
            try await refused(
                cast.member.message(id, to: [(cast.recipient.owner.account, three)], text: "x"),
                at: "/recipients/0/envelopes")
            try await refused(
                cast.member.message(
                    id,
                    to: [
                        (cast.recipient.owner.account, [cast.recipient.id]),
                        (cast.other.owner.account, [cast.other.id, cast.member.id]),
                    ], text: "x"), at: "/recipients")
            #expect(try await Snapshot.of(server).changes(since: before) == [])
        }
    }

    @Test("Reports and acknowledgements of what never was are refused by name")
    func neverWas() async throws {
        try await TestServer.with { server in
            let cast = try await Cast.gather(on: server)
            let before = try await Snapshot.of(server)
            let report = try await cast.member.owner.call(
                "POST", "/v1/config/reports", ["revision": 4, "state": "applied"])
            #expect(report.status == 400 && report.pointers == ["/revision"], "\(report.text)")
            let ack = try await cast.member.owner.call("POST", "/v1/mailbox/acks", ["through": 1])
            #expect(ack.status == 400 && ack.pointers == ["/through"], "\(ack.text)")
            let reasons = try await cast.member.owner.call(
                "POST", "/v1/config/reports",
                ["revision": 0, "state": "applied", "reasons": [["key": "a", "code": "b", "detail": ""]]])
            #expect(reasons.status == 400 && reasons.pointers == ["/reasons"], "\(reasons.text)")
            let rollback = try await cast.admin.owner.call(
                "POST", "/v1/apps/\(Cast.app)/config/rollbacks", ["revision": 9, "reason": "x"],
                headers: [("If-Match", "*")])
            #expect(rollback.status == 404 && rollback.pointers == ["/revision"], "\(rollback.text)")
            #expect(try await Snapshot.of(server).changes(since: before) == [])
        }
    }
}

extension JSON {
    /// The object with one member set.
    func with(_ name: String, _ value: JSON?) -> JSON {
        var object = fields ?? [:]
        object[name] = value
        return .object(object)
    }
}

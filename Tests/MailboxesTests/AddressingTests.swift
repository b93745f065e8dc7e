import Domain
import Testing
import Wire

@testable import Mailboxes

@Suite("A message must be for exactly the devices there are")
struct AddressingTests {
    private let mail = AppID(stored: "mail")
    private let ann = AccountID(UUID(high: 1, low: 1))
    private let bob = AccountID(UUID(high: 1, low: 2))
    private let phone = DeviceID(UUID(high: 2, low: 1))
    private let pad = DeviceID(UUID(high: 2, low: 2))
    private let desk = DeviceID(UUID(high: 2, low: 3))
    private let other = DeviceID(UUID(high: 2, low: 9))

    private var addressing: Addressing {
        func address(_ account: AccountID, _ device: DeviceID, _ keyVersion: Int64, in app: AppID) -> Address {
            Address(
                mailbox: MailboxID(device.uuid), account: account, app: app, device: device, keyVersion: keyVersion,
                epoch: 1, nextSeq: 1, trimmedThrough: 0, acked: 0)
        }
        return Addressing(
            versions: [(account: ann, version: 4), (account: bob, version: 9)],
            addresses: [
                address(ann, phone, 1, in: mail), address(ann, pad, 2, in: mail), address(bob, desk, 5, in: mail),
                address(bob, other, 1, in: AppID(stored: "notes")),
            ])
    }

    private func draft(from device: DeviceID, _ recipients: [(AccountID, [(DeviceID, Int64)])]) -> Draft {
        Draft(
            id: MessageID(UUID(high: 3, low: 3)), account: ann, device: device, app: mail,
            recipients: recipients.map { account, envelopes in
                Draft.Recipient(
                    account: account,
                    envelopes: envelopes.map { Draft.Envelope(device: $0.0, keyVersion: $0.1, ciphertext: [1]) })
            })
    }

    private func mismatches(_ draft: Draft) -> [DeviceSetMismatch] {
        do throws(Failure) {
            _ = try addressing.deliveries(of: draft)
            return []
        } catch {
            guard case .conflict(.deviceSet(let mismatches)) = error else {
                Issue.record("not a mismatch: \(error)")
                return []
            }
            return mismatches
        }
    }

    @Test("the exact set is delivered in the order of the envelopes")
    func exact() throws {
        let deliveries = try addressing.deliveries(of: draft(from: phone, [(bob, [(desk, 5)]), (ann, [(pad, 2)])]))
        #expect(deliveries.map(\.address.device) == [desk, pad])
    }

    @Test("one's own account means all its devices but the sending one")
    func ownAccount() throws {
        #expect(mismatches(draft(from: phone, [(ann, [(pad, 2)])])).isEmpty)
        #expect(mismatches(draft(from: phone, [(ann, [(phone, 1), (pad, 2)])])).first?.extra == [phone])
        #expect(mismatches(draft(from: phone, [(ann, [])])).first?.missing == [pad])
    }

    @Test("missing, extra and stale devices of all accounts are told at once")
    func allAtOnce() {
        let found = mismatches(draft(from: desk, [(ann, [(phone, 7), (other, 1)]), (bob, [(other, 1)])]))
        #expect(found.map(\.account) == [ann, bob])
        #expect(found.first?.version == 4)
        #expect(found.first?.missing == [pad])
        #expect(found.first?.extra == [other])
        #expect(found.first?.stale == [phone])
        #expect(found.last?.extra == [other], "a device that holds another app is not of the set")
    }

    @Test("an account that is none is named before any device is judged")
    func unknownAccount() throws {
        let nobody = AccountID(UUID(high: 1, low: 77))
        do throws(Failure) {
            _ = try addressing.deliveries(of: draft(from: phone, [(bob, []), (nobody, [(other, 1)])]))
            Issue.record("delivered to nobody")
        } catch {
            guard case .missingParts(let faults) = error else { throw error }
            #expect(faults.map(\.pointer) == ["/recipients/1/accountId"])
        }
    }

    @Test("the digest is of the content, not of the order or the hint")
    func digest() {
        let one = draft(from: phone, [(bob, [(desk, 5)]), (ann, [(pad, 2)])])
        let turned = draft(from: phone, [(ann, [(pad, 2)]), (bob, [(desk, 5)])])
        let moved = draft(from: phone, [(ann, [(desk, 5)]), (bob, [(pad, 2)])])
        let newer = draft(from: phone, [(bob, [(desk, 6)]), (ann, [(pad, 2)])])
        #expect(one.digest == turned.digest)
        #expect(one.digest != moved.digest)
        #expect(one.digest != newer.digest)
    }
}

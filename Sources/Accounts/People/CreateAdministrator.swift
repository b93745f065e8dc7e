public import Crypto
public import Domain
public import Store

extension Accounts {
    /// Makes an administrator from the server's own command line; refused when the name is taken.
    public static func createAdministrator(
        username: String, displayName: String, password: String, passwords: Passwords, in database: Database
    ) async throws(Failure) -> AccountID {
        var faults: [FieldFault] = []
        let name = Username(username)
        if name == nil {
            faults.append(FieldFault(pointer: "/username", detail: "must be 1 to 64 letters, digits, '.', '_' and '-'"))
        }
        if !(1...128).contains(displayName.unicodeScalars.count) || displayName.hasControlCharacters {
            faults.append(FieldFault(pointer: "/displayName", detail: "must have 1 to 128 characters"))
        }
        if !(8...1024).contains(password.unicodeScalars.count) || password.hasControlCharacters {
            faults.append(FieldFault(pointer: "/password", detail: "must have 8 to 1024 characters"))
        }
        guard let name, faults.isEmpty else { throw .invalid(faults) }
        let new = NewAccount(username: name, displayName: displayName, role: .admin, password: password)
        let hash = try await passwords.hashed(password)
        return try await database.transaction { (tx) throws(Failure) in
            try tx.create(new, passwordHash: hash, by: Actor(kind: .operator)).id
        }
    }
}

extension String {
    fileprivate var hasControlCharacters: Bool { unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } }
}

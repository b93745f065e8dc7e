import Glibc
import TestKit
import Testing
import Wire

@testable import Crypto

@Suite struct RootKeyTests {
    private static let zeros = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    @Test(
        arguments: [
            (.refreshToken, "09b8e21ffa5caafc0ae0f8808fc32f2e35fa36999738eabca0551609592d5577"),
            (.authorizationCode, "8110f7d590e6a6b676f52763282dc2c9dce2913ca6dc2da613b89ebb03076fc4"),
            (.deviceSecret, "cfbca6d2e081ddf359f6d3e093bb3cc1e13938cadb35d9c65eb7dcce9da7e64c"),
            (.throttle, "0b6bbbfeca69f619d9456dfe4f968d65eb275a64937feee6ac50d74eb457165e"),
            (.successor, "762d558311efeb9880b47efd0f9a9bdcab26a3ba9e19cfee91b8a432c9f297a2"),
        ] as [(RootKey.HashPurpose, String)])
    func `subkeys stay what stored hashes were made with`(purpose: RootKey.HashPurpose, digest: String) {
        #expect(Hex.encode(countingRootKey().subkey(purpose).hash("abc")) == digest)
    }

    @Test func `every purpose has its own context of eight bytes`() {
        let contexts = RootKey.HashPurpose.allCases.map(\.rawValue) + RootKey.SealingPurpose.allCases.map(\.rawValue)
        #expect(contexts.allSatisfy { $0.utf8.count == 8 })
        #expect(Set(contexts).count == contexts.count)
    }

    @Test func `a created file holds the key, for its owner only`() throws {
        try Folder.use { folder in
            let created = try RootKey.create(path: folder.path("root-key"))
            let loaded = try RootKey.load(path: folder.path("root-key"))
            #expect(loaded.subkey(.throttle).hash("abc") == created.subkey(.throttle).hash("abc"))
            var facts = stat()
            #expect(stat(folder.path("root-key"), &facts) == 0)
            #expect(facts.st_mode & 0o777 == 0o600)
            #expect(facts.st_size == 45)
        }
    }

    @Test func `two created keys differ`() throws {
        try Folder.use { folder in
            let one = try RootKey.create(path: folder.path("one"))
            let other = try RootKey.create(path: folder.path("other"))
            #expect(one.subkey(.throttle).hash("abc") != other.subkey(.throttle).hash("abc"))
        }
    }

    @Test func `an existing file is kept`() throws {
        try Folder.use { folder in
            let path = folder.path("root-key")
            let kept = try RootKey.create(path: path)
            #expect(throws: RootKeyFault.alreadyExists(path: path)) { try RootKey.create(path: path) }
            #expect(try RootKey.load(path: path).subkey(.throttle).hash("a") == kept.subkey(.throttle).hash("a"))
        }
    }

    @Test func `a key in a directory that is not there is not created`() throws {
        try Folder.use { folder in
            let path = folder.path("nowhere/root-key")
            #expect(throws: RootKeyFault.unwritable(path: path, errno: ENOENT)) { try RootKey.create(path: path) }
        }
    }

    @Test(arguments: [zeros, zeros + "\n"]) func `the line may end or just stop`(text: String) throws {
        try Folder.use { folder in
            let path = try folder.file(text)
            let key = try RootKey.load(path: path)
            let same = RootKey(SecretBytes(copying: [UInt8](repeating: 0, count: 32)))
            #expect(key.subkey(.successor).hash("a") == same.subkey(.successor).hash("a"))
        }
    }

    @Test(arguments: [
        ("", 0), ("\n", 0), ("AAAAAAAAAAAAAAAAAAAAAA==\n", 16), ("QUJD\n", 3),
        (String(repeating: "A", count: 84) + "AA==\n", 64),
    ])
    func `a key of another length is refused by its length`(text: String, size: Int) throws {
        try Folder.use { folder in
            let path = try folder.file(text)
            #expect(throws: RootKeyFault.wrongLength(path: path, bytes: size)) { try RootKey.load(path: path) }
        }
    }

    @Test(arguments: [
        zeros + "\n\n", zeros + "\r\n", " " + zeros, zeros + " ", zeros + "\n" + zeros + "\n", String(zeros.dropLast()),
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=", "____AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "not a key",
        String(repeating: "A", count: 5000),
    ])
    func `anything but one line of canonical base64 is refused`(text: String) throws {
        try Folder.use { folder in
            let path = try folder.file(text)
            #expect(throws: RootKeyFault.notBase64(path: path)) { try RootKey.load(path: path) }
        }
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o660, 0o666, 0o777] as [mode_t])
    func `a file that others can reach is refused by its mode`(mode: mode_t) throws {
        try Folder.use { folder in
            let path = try folder.file(Self.zeros, mode: mode)
            #expect(throws: RootKeyFault.exposed(path: path, mode: mode)) { try RootKey.load(path: path) }
        }
    }

    @Test(arguments: [0o400, 0o600, 0o700] as [mode_t]) func `a file of its owner alone is read`(mode: mode_t) throws {
        try Folder.use { folder in
            let path = try folder.file(Self.zeros, mode: mode)
            #expect(throws: Never.self) { try RootKey.load(path: path) }
        }
    }

    @Test(
        arguments: [
            (0o440, 0, 1000, false), (0o640, 0, 1000, false), (0o444, 0, 1000, true), (0o460, 0, 1000, true),
            (0o440, 1000, 1000, true), (0o440, 0, 0, true), (0o400, 1000, 1000, false),
        ] as [(mode_t, uid_t, uid_t, Bool)])
    func `root may let a group read its file, as it hands over credentials, and nobody else may`(
        mode: mode_t, owner: uid_t, reader: uid_t, isExposed: Bool
    ) {
        #expect(RootKey.isExposed(mode, owner: owner, reader: reader) == isExposed)
    }

    @Test func `what is missing or no file is refused as such`() throws {
        try Folder.use { folder in
            let missing = folder.path("root-key")
            #expect(throws: RootKeyFault.missing(path: missing)) { try RootKey.load(path: missing) }
            #expect(throws: RootKeyFault.notAFile(path: folder.root)) { try RootKey.load(path: folder.root) }
            let pipe = folder.path("pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            #expect(throws: RootKeyFault.notAFile(path: pipe)) { try RootKey.load(path: pipe) }
            let below = try folder.file(Self.zeros) + "/root-key"
            #expect(throws: RootKeyFault.unreadable(path: below, errno: ENOTDIR)) { try RootKey.load(path: below) }
        }
    }

    @Test(
        arguments: [
            (.missing(path: "/k"), "umask 077"), (.alreadyExists(path: "/k"), "is kept"),
            (.notAFile(path: "/k"), "name the file"),
            (.exposed(path: "/k", mode: 0o640), "(mode 0640): run chmod 600 /k"),
            (.notBase64(path: "/k"), "restore it from backup"), (.wrongLength(path: "/k", bytes: 16), "16 bytes"),
            (.unreadable(path: "/k", errno: EACCES), "Permission denied"),
            (.unwritable(path: "/k", errno: ENOSPC), "No space"),
        ] as [(RootKeyFault, String)])
    func `a fault names the file and what to do`(fault: RootKeyFault, part: String) {
        #expect(fault.description.contains("/k"))
        #expect(fault.description.contains(part))
    }
}

/// A directory of its own, gone after its use.
private struct Folder {
    let root: String

    static func use(_ work: (Folder) throws -> Void) throws {
        let folder = Folder(root: try #require(makeTemporaryFolder("enfilade-root-key-")))
        defer {
            for name in ["root-key", "one", "other", "pipe", "file"] { unlink(folder.path(name)) }
            rmdir(folder.root)
        }
        try work(folder)
    }

    func path(_ name: String) -> String {
        root + "/" + name
    }

    func file(_ text: String, mode: mode_t = 0o600) throws -> String {
        let file = try #require(fopen(path("file"), "w"))
        fputs(text, file)
        fclose(file)
        #expect(chmod(path("file"), mode) == 0)
        return path("file")
    }
}

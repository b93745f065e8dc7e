import Application
import Glibc
import Synchronization
import Testing

@Suite("Every fuzz target's claims hold of its first inputs")
struct ReplayTests {
    @Test(arguments: FuzzTarget.all.map(\.name))
    func firstInputs(of name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let files = try inputs(of: name)
        #expect(!files.isEmpty, "a target has a first input")
        let broken = Mutex<[String]>([])
        for file in files {
            let bytes = File.bytes(of: file)
            #expect(!bytes.isEmpty && bytes.count <= target.longest)
            let hear: @Sendable (String) -> Void = { words in broken.withLock { $0.append("\(file): \(words)") } }
            Listening.$hear.withValue(hear) { target.look(bytes) }
        }
        #expect(broken.withLock { $0 } == [])
    }

    @Test("The folder holds inputs of targets only")
    func strangers() throws {
        let folders = try names(in: corpus)
        #expect(Set(folders).subtracting(FuzzTarget.all.map(\.name)) == [])
    }

    @Test("A claim that does not hold is heard")
    func heard() {
        let said = Mutex<[String]>([])
        Listening.$hear.withValue({ words in said.withLock { $0.append(words) } }) { expect(1 > 2, "more", line: 7) }
        #expect(said.withLock { $0 } == ["line 7, not true: more"])
    }

    private var corpus: String { String("\(#filePath)".dropLast("ReplayTests.swift".count)) + "Corpus" }

    private func inputs(of name: String) throws -> [String] {
        try names(in: "\(corpus)/\(name)").map { "\(corpus)/\(name)/\($0)" }
    }

    private func names(in folder: String) throws -> [String] {
        let stream = try #require(opendir(folder))
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { raw in
                String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}

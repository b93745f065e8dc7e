import CFuzzer
import Glibc

// enfilade-fuzz list | NAME [libFuzzer's own arguments]: bin/fuzz calls it.

guard CommandLine.arguments.count > 1, CommandLine.arguments[1] != "list" else {
    for target in FuzzTarget.all { print(target.name, target.longest) }
    exit(0)
}
guard Chosen.target != nil else {
    print("there is no fuzz target \(CommandLine.arguments[1])")
    exit(2)
}
// libFuzzer reads the arguments behind the name; it takes those without a dash for corpora.
var count = CommandLine.argc - 1
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
exit(
    LLVMFuzzerRunDriver(&count, &arguments) { bytes, size in
        Chosen.target?.look(Array(UnsafeBufferPointer(start: bytes, count: size)))
        return 0
    })

/// The target of this run; a C callback can carry nothing.
enum Chosen {
    static let target = FuzzTarget.all.first { $0.name == CommandLine.arguments[1] }
}

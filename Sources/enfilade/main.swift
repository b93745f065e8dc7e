import Glibc

exit(Entry.run(CommandLine.arguments))

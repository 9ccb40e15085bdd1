import ArgumentParser
import Console
import EntityStore

@main
enum Program {
  static func main() { CommandLineEntry.run(MooringDump.self) }
}

struct MooringDump: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mooring-dump",
    abstract: "Shows the content of a store. Reads only; creates and migrates nothing.",
    discussion: """
      Opens any store, whatever migrations it has had. Records and history are compared with their \
      seals. Damage is reported on stderr, with entity \
      and id, and the dump continues; it then ends with 65. A dump reads one snapshot: while it \
      runs, the file cannot reuse the pages that writers replace.
      """,
    version: Version.shown(),
    subcommands: [
      SchemaCommand.self, Records.self, IndexCommand.self, HistoryCommand.self,
      JobsCommand.self, Tables.self,
      Stats.self,
    ])
}

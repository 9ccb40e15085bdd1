import ArgumentParser
import Console
import EntityStore
import Migrations

extension Migrate {
  struct Baseline: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "baseline",
      abstract: "Records migrations as applied without running them.",
      discussion: """
        mooring migrate baseline local@2 --migrations migrations

        For a store that already has their schema, because its line was split, renamed or \
        merged into one file. It is refused if the store lacks part of that schema.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var lock: MigrationLockOptions
    @Argument(help: ArgumentHelp("The last one to record, such as local@2.", valueName: "line@n"))
    var last: LineVersion

    func run() async throws {
      let store = try options.open()
      let last = last
      let lines = try store.migrationLines
      guard lines.contains(where: { $0.name == last.line }) else {
        throw CommandError.unknownLine(last.line, known: lines.map(\.name))
      }
      let command = "mooring migrate baseline \(last.line)@\(last.version)"
      let noted = try await LongCommand(isQuiet: options.quiet)
        .migrate(lock.migrationOptions(), continuedBy: command) {
          try store.baseline(last.line, to: last.version, $0)
        }
      if options.quiet { return }
      for migration in noted {
        Message.say("noted as applied: \(migration.line) \(migration.name)")
      }
    }
  }
}

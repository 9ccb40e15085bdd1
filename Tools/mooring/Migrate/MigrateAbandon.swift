import ArgumentParser
import Console
import EntityStore
import Migrations

extension Migrate {
  struct Abandon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "abandon",
      abstract: "Abandons the step in progress and drops what it has built.",
      discussion: """
        mooring migrate abandon --wait 60

        The steps before it stay applied. `up` starts the step again; the file may be corrected \
        from that step on.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var lock: MigrationLockOptions

    func run() async throws {
      let store = try options.open()
      let command = "mooring migrate abandon"
      let running = try await LongCommand(isQuiet: options.quiet)
        .migrate(lock.migrationOptions(), continuedBy: command) {
          try store.abandonMigration($0)
        }
      if options.quiet { return }
      guard let running else { return Message.say("no migration is in progress") }
      let done = running.doneChecksums.count
      Message.say(
        "abandoned \(running.line) \(running.name) in step \(done + 1)"
          + (done > 0 ? "; the steps before it stay applied; `mooring migrate up` resumes" : ""))
    }
  }
}

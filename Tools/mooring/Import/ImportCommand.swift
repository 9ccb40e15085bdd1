import ArgumentParser
public import Console
public import LegacyImport

struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports SQLite files of other programs, Core Data's stores among them.",
    discussion: """
      The steps: `inspect` writes a mapping and a migration for review, `confirm` confirms or \
      corrects its guesses in both, `mooring migrate up` creates the entities, `plan` shows what \
      will happen to each row, and `run` imports. Each command ends by printing the next one.

      The file is copied to $TMPDIR, with its -wal and its -journal, and never changed. Other \
      programs may use it at the same time.
      """,
    subcommands: [Inspect.self, Confirm.self, Plan.self, Run.self, Status.self, Rejects.self])
}

extension ImportError: ExitStatusProviding {
  public var exitStatus: ExitStatus {
    switch code {
    case .missing: .unavailable
    case .notADatabase, .encrypted, .truncated, .damaged, .tooLarge: .badData
    case .unreadable, .noSpace: .inputOutput
    case .busy, .running: .tryAgain
    case .mapping, .unconfirmed: .configuration
    }
  }
}

import ArgumentParser
public import Console
public import LegacyImport

struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports SQLite files of other programs, Core Data's stores among them.",
    discussion: """
      The way through: `inspect` writes a mapping and a migration, a person reads both, `mooring \
      migrate up` makes what is mapped to, `plan` says what will happen to each row, `run` does \
      it. Each command ends with the next one.

      The file is only ever copied, with its -wal and its -journal, and stays as it is byte by \
      byte; another program may use it meanwhile. The copy goes to $TMPDIR.
      """,
    subcommands: [Inspect.self, Plan.self, Run.self, Status.self, Rejects.self])
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

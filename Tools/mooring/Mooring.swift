import ArgumentParser
public import Console
import DurableJobs
import EntityStore
public import FeedSync
public import HTTPClient
public import HomeFeed
import LegacyImport
import Migrations

@main
struct Mooring: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mooring",
    abstract: "Keeps content feeds moored to this machine.",
    version: Version.text,
    subcommands: [
      Sync.self, FeedCommand.self, Home.self, Fetch.self, SetCommand.self, BatchCommand.self,
      JobsCommand.self, Migrate.self, ImportCommand.self, SchemaVerb.self, Check.self,
      BackupCommand.self,
      RestoreCommand.self, CompactCommand.self, WorkerCommand.self, ConfigCommand.self,
    ])

  static func main() async { await CommandLineEntry.run(Self.self) }
}

extension StoreOptions {
  /// All lines that this program knows and those that the operator names.
  var allSources: [MigrationSource] { builtInSources + migrationSources }

  /// In the order in which a new store gets them: catalog numbers follow from it.
  var builtInSources: [MigrationSource] { [.feeds, .homeFeed, .jobs, .legacyImport] }

  /// Opens a store that is there.
  func open() throws -> Store {
    try Store.open(
      at: folder, migrations: allSources, migrate: .never, options: try storeOptions())
  }

  /// Opens the store, and makes it if it is missing.
  func openOrCreate() throws -> Store {
    try Store.open(
      at: folder, migrations: allSources, migrate: .ifEmpty, options: try storeOptions())
  }
}

extension SyncError: ExitStatusProviding {
  public var exitStatus: ExitStatus {
    switch code {
    case .unknownFeed, .gone, .notFound, .missingToken: .unavailable
    case .invalidFeed: .usage
    case .paused, .busy, .waiting, .badStatus, .unaskedNotModified: .tryAgain
    case .badDocument, .tooManyRejected, .emptied, .repeatedPage, .tooManyPages, .foreignPage:
      .badData
    case .missingTarget: .configuration
    case .notPermitted: .notPermitted
    case .inputOutput: .inputOutput
    }
  }
}

extension HTTPError: ExitStatusProviding {
  public var exitStatus: ExitStatus {
    switch code {
    case .invalidURL, .unsupportedProtocol, .invalidHeader: .usage
    case .tooLarge, .badEncoding, .protocolViolation: .badData
    case .refusedAddress, .insecureRedirect: .notPermitted
    default: .tryAgain
    }
  }
}

extension ContentStoreError: ExitStatusProviding {
  public var exitStatus: ExitStatus { .usage }
}

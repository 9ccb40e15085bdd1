import Console
import DurableJobs
import EntityStore
import FeedSync
import HomeFeed
import LegacyImport
import Migrations
import StatusModel
import StoreFigures
import TextFormats

extension StoreOptions {
  /// The migration lines of this program, and those that the operator names.
  var allSources: [MigrationSource] { builtInSources + migrationSources }

  /// The migration lines of this program in the order in which a new store gets them, which decides
  /// the catalog numbers.
  var builtInSources: [MigrationSource] {
    [.feeds, .homeFeed, .jobs, .legacyImport, .figures, .actions]
  }

  /// Opens an existing store.
  ///
  /// - Parameter observer: Measures the fetches.
  func open(observer: FetchObserver? = nil) throws -> Store {
    var options = try storeOptions()
    options.fetchObserver = observer
    return try Store.open(
      at: folder, migrations: allSources, migrate: .never, options: options)
  }

  /// Opens an existing store that is in no hub yet.
  func openWithoutHub() throws -> Store {
    var options = try storeOptions()
    options.commitLog = nil
    options.sharedLocks = FolderLocks()
    return try Store.open(at: folder, migrations: allSources, migrate: .never, options: options)
  }

  /// Opens the store, and creates it if it is missing.
  func openOrCreate() throws -> Store {
    try Store.open(
      at: folder, migrations: allSources, migrate: .ifEmpty, options: try storeOptions())
  }
}

extension StoreOptions {
  /// A command of this program as it can be pasted into a shell, for the same store.
  ///
  /// - Parameter words: The verbs and their arguments.
  func commandLine(_ words: [String]) -> String {
    let own = (store.map { ["--store", $0] } ?? []) + migrations.flatMap { ["--migrations", $0] }
    return (["mooring"] + words + own).map(\.shellWord).joined(separator: " ")
  }
}

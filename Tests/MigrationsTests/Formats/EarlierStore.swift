import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// A store that an earlier version wrote: a folder of `Stores`.
struct EarlierStore: Sendable, CustomTestStringConvertible {
  let folder: URL
  var testDescription: String { folder.lastPathComponent }

  private static let stores = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Stores", isDirectory: true)

  init(_ name: String) { folder = Self.stores.appendingPathComponent(name, isDirectory: true) }

  static let all: [EarlierStore] = {
    let dumps = FileManager.default.enumerator(atPath: stores.path)?
      .compactMap { $0 as? String }.filter { $0.hasSuffix("/store.dump") }
    return (dumps ?? []).sorted().map { EarlierStore(String($0.dropLast("/store.dump".count))) }
  }()

  /// The migration lines of the store, as the current version has them.
  var lines: [MigrationSource] { lineFolders.map { .directory($0) } }

  var lineFolders: [String] {
    var package = folder
    for _ in 1...5 { package.deleteLastPathComponent() }
    return [
      package.appendingPathComponent("Sources/FeedSync/System").path,
      package.appendingPathComponent("Migrations").path,
      folder.appendingPathComponent("local").path,
    ]
  }

  func dump() throws -> StoreDump {
    try StoreDump(contentsOf: folder.appendingPathComponent("store.dump"))
  }

  func expected() throws -> ExpectedRecords {
    try ExpectedRecords(contentsOf: folder.appendingPathComponent("expected.jsonl"))
  }

  /// Runs `body` with a folder that holds the store.
  func withFolder<R>(
    isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> R
  ) async throws -> R {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      try dump().write(to: path)
      return try await body(path)
    }
  }
}

/// Opens a store as it is.
///
/// - Parameter more: Lines beyond those that it has had.
func openEarlier(
  _ format: EarlierStore, at path: String, more: [MigrationSource] = [], isReadOnly: Bool = false
) throws -> Store {
  var options = Store.Options()
  options.mapSize = 1 << 30
  options.flushesCommits = false
  options.isReadOnly = isReadOnly
  return try Store.open(at: path, migrations: format.lines + more, options: options)
}

package import EntityStore

/// An importer of other programs' files for the `importLegacy` steps of migrations. The store
/// itself knows no format but its own.
public struct LegacyImporter: Sendable {
  /// Checks that a step could begin, as far as this is possible before anything runs.
  let check: @Sendable (LegacyImportReference) throws(StoreError) -> Void
  let run: @Sendable (LegacyImportReference, LegacyImportRun) throws -> Void

  package init(
    check: @escaping @Sendable (LegacyImportReference) throws(StoreError) -> Void,
    run: @escaping @Sendable (LegacyImportReference, LegacyImportRun) throws -> Void
  ) {
    self.check = check
    self.run = run
  }

  static func required(_ importer: LegacyImporter?) throws(StoreError) -> LegacyImporter {
    if let importer { return importer }
    throw StoreError(
      .migration, "this program cannot import legacy files",
      advice: "run `mooring migrate up`, or open the store with `MigrationSource.legacyImporter`")
  }
}

/// The access of an importer to the store during a migration.
package struct LegacyImportRun {
  package let store: Store
  package let isCancelled: @Sendable () -> Bool
  /// Called with the number of rows that are done and the number of all rows; 0 if that is not
  /// known.
  package let progress: @Sendable (Int64, Int64) -> Void
  let commit: ((WriteTransaction) throws -> Void) throws -> Void

  /// Runs a closure in its own transaction, which is durable when the call returns.
  package func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
    var result: R?
    try withoutActuallyEscaping(body) { body in
      try commit { result = try body($0) }
    }
    guard let result else { throw CancellationError() }
    return result
  }
}

import EntityStore

/// The policy for reading a store whatever migrations it has had, without ever writing to it. A
/// check or a copy does not depend on the migrations that the program knows.
struct ReadingOnly: SchemaPolicy {
  /// The newest migration of the line `system` whose format this module reads.
  private static let systemVersion = 3

  func checkReadable(_ catalog: Catalog) throws {
    let newer = catalog.history.first {
      $0.line == "system" && $0.version > Self.systemVersion && $0.older == .refuse
    }
    guard let newer else { return }
    throw StoreError(
      .newerSchema, "the store was migrated by a newer version of this program",
      [("migration", newer.name)], advice: "install that version")
  }

  func checkWritable(_ catalog: Catalog, in folder: String) throws {
    throw StoreError(.readOnly, "the store is open for reading only")
  }
}

extension Store {
  /// Opens a store to check or copy it.
  ///
  /// - Throws: `storeMissing`, `notAStore`, `newerFormat`, `newerSchema`, a storage failure.
  static func openForReading(at folder: String, _ options: Options) throws -> Store {
    var options = options
    options.isReadOnly = true
    return try translatingStorageErrors {
      try Store(folder: folder, policy: ReadingOnly(), creates: false, options: options)
    }
  }
}

public import EntityStore
public import Migrations

extension MigrationSource {
  /// The system entities of legacy imports. A store that imports is opened with it.
  public static let legacyImport = MigrationSource(embedded: [
    ("0001_import", PackageResources._001_import_yaml)
  ])
}

/// The entities that remember what was imported; their attributes are described in
/// System/0001_import.yaml.
package enum ImportRecords {
  static let source = "_Import"
  static let row = "_ImportedRow"
  static let reject = "_ImportReject"
}

import EntityModel
import EntityStore
public import Migrations
import StrictYAML

extension LegacyImporter {
  /// Returns an importer that runs `importLegacy` steps with these files.
  ///
  /// - Parameter files: Paths, by the names that steps give their sources.
  public static func files(
    _ files: [String: String], _ options: LegacyFile.Options = LegacyFile.Options()
  ) -> LegacyImporter {
    LegacyImporter { (reference) throws(StoreError) in
      if files[reference.source] == nil, !reference.isOptional {
        throw .missingSource(reference.source)
      }
    } run: { reference, run in
      guard let path = files[reference.source] else {
        if reference.isOptional { return }
        throw StoreError.missingSource(reference.source)
      }
      try run.importFile(LegacyFile(path, options.within(run)), reference)
    }
  }
}

extension LegacyImportRun {
  /// - Throws: `migration` if the store then differs from the file, or if more was rejected than
  ///   the mapping allows. What was written stays, and the next attempt resumes.
  fileprivate func importFile(_ file: LegacyFile, _ reference: LegacyImportReference) throws {
    guard try store.schema.entity(named: ImportRecords.source) != nil else {
      throw StoreError(
        .migration, "a step imports a legacy file before the store can remember imports",
        [("source", reference.source)], advice: "add requires: [system.import@1] to its file")
    }
    do {
      let store = store
      let run = try file.run(
        MappingText(reference.mapping), MigrationDestination(run: self), now: { store.now() })
      try run.requireConfirmed()
      let report = try ImportLease.hold(run.name, in: store) { try run.run() }
      guard report.isBalanced else { throw StoreError.incomplete("it is NOT BALANCED", report) }
      guard report.isWithinLimit else {
        throw StoreError.incomplete(
          "\(report.rejected) were rejected, \(report.rejectsAllowed) are allowed", report)
      }
    } catch let error as ImportError {
      throw StoreError.legacy(error.description)
    } catch let error as YAMLError {
      throw StoreError.legacy(error.description)
    }
  }
}

/// A store during a migration.
private struct MigrationDestination: ImportDestination {
  let run: LegacyImportRun

  var folder: String { run.store.folder }

  func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R { try run.store.read(body) }

  func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R { try run.write(body) }
}

extension LegacyFile.Options {
  /// Returns the options of an import that is cancelled with the migration and reports its progress
  /// to it.
  fileprivate func within(_ run: LegacyImportRun) -> LegacyFile.Options {
    var options = self
    options.isCancelled = run.isCancelled
    options.progress = { [progress = run.progress] in progress($0.done, $0.total) }
    return options
  }
}

extension StoreError {
  fileprivate static func missingSource(_ name: String) -> StoreError {
    StoreError(
      .migration, "a step imports a legacy file that was not given", [("source", name)],
      advice: "name its file: --legacy \(name)=FILE")
  }

  fileprivate static func legacy(_ reason: String) -> StoreError {
    StoreError(.migration, "a legacy file cannot be imported", [("reason", reason)])
  }

  fileprivate static func incomplete(_ reason: String, _ report: ImportReport) -> StoreError {
    StoreError(
      .migration, "a legacy file was not imported completely",
      [("import", report.name), ("reason", reason)],
      advice: "see `mooring import status` and `mooring import rejects`, then migrate again")
  }
}

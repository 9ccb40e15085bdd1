import Foundation
import Mooring

/// The code of the page "Importing existing stores".
struct ImportsTests {
  private struct ImportIncomplete: Error {
    let report: ImportReport

    init(_ report: ImportReport) { self.report = report }
  }

  /// Compiled only: other tests cover the effects of an import.
  private func importPodcasts(_ mappingURL: URL, into store: Store) throws {
    // listing
    let mapping = try MappingText(Array(Data(contentsOf: mappingURL)), file: "podcasts.yaml")
    let report = try LegacyFile("Podcasts.sqlite").run(mapping, in: store)
    guard report.isBalanced, report.isWithinLimit else { throw ImportIncomplete(report) }
    // end
  }

  /// Compiled only, as above.
  private func openWithFiles(_ folder: String, _ line: MigrationSource, _ path: String) throws {
    // listing
    let importer = MigrationSource.legacyImporter(.files(["books": path]))
    let store = try Store.open(
      at: folder, migrations: [.legacyImport, line, importer], migrate: .pending)
    // end
    _ = store
  }
}

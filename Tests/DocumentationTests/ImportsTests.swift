import EntityStore
import Foundation
import LegacyImport
import Testing

/// The code of the page "Importing existing stores".
@Suite struct ImportsTests {
  private struct ImportIncomplete: Error {
    let report: ImportReport

    init(_ report: ImportReport) { self.report = report }
  }

  /// Compiled only: what an import does is tested with files of its own.
  private func importPodcasts(_ mappingURL: URL, into store: Store) throws {
    // listing
    let mapping = try MappingText(Array(Data(contentsOf: mappingURL)), file: "podcasts.yaml")
    let report = try LegacyFile("Podcasts.sqlite").run(mapping, in: store)
    guard report.isBalanced, report.isWithinLimit else { throw ImportIncomplete(report) }
    // end
  }

  @Test func aProgramNamesItsFiles() {
    let path = "library.db"
    // listing
    var options = Store.Options()
    options.legacyImporter = .files(["books": path])
    // end
    #expect(options.legacyImporter != nil)
  }
}

import EntityModel
import EntityStore
import Foundation
import LegacyImport
import TestSupport
import Testing

/// Damaged files of a real program, imported as far as they read.
@Suite(.enabled(if: LegacyStores.isHere, "\(LegacyStores.skipped)"))
struct DamagedImportTests {
  @Test(arguments: [
    ("variants/bitflip/newsboat_zeropage.db", ImportError.Code.damaged),
    ("variants/truncated/newsboat_half_page.db", .truncated),
  ])
  func readableRowsAreImportedAndTheOthersAreNamed(file: String, code: ImportError.Code)
    async throws
  {
    let path = LegacyStores.path(file)
    let before = try FolderState(URL(filePath: path).deletingLastPathComponent().path)
    // The healthy file says what there is to map.
    try await withProposedImport(of: LegacyStores.path("stores/newsboat/cache.db")) { proposed in
      let text = try MappingText(
        Array(MappingFile.text(of: proposed.mapping).utf8), file: "proposed.yaml")
      do {
        _ = try LegacyFile(path).run(text, in: proposed.store)
        Issue.record("it was read without the flag")
      } catch let error as ImportError {
        #expect(error.code == code, "\(error)")
        #expect(error.description.contains("--damaged") && !error.description.contains("\n"))
      }
      var options = LegacyFile.Options()
      options.allowsDamage = true
      let plan = try LegacyFile(path, options).plan(text, in: proposed.store)
      let report = try LegacyFile(path, options).run(text, in: proposed.store)
      #expect(!report.isBalanced && report.balanced == false)
      #expect(report.missingAtMost > 0, "\(problems(of: report))")
      expectSameBalance(plan, report)
      let items = try #require(report.tables.first { $0.name == "rss_item" })
      #expect(!items.unreadableRows.isEmpty)
      #expect(items.accepted > 0 && items.accepted < 773)
      #expect(items.unreadableRows.allSatisfy { !$0.isEmpty && !$0.contains("\n") })
      options.missingRowsAllowed = report.missingAtMost
      let second = try LegacyFile(path, options).run(text, in: proposed.store)
      #expect(second.isBalanced && second.entities.allSatisfy { $0.written.new == 0 })
    }
    #expect(try FolderState(URL(filePath: path).deletingLastPathComponent().path) == before)
  }
}

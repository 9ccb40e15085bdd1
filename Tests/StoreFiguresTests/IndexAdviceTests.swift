import EntityModel
import EntityStore
import Foundation
import Migrations
import TestSupport
import Testing

@testable import StoreFigures

@Suite(.timeLimit(.minutes(5))) struct IndexAdviceTests {
  private func advice(_ temporary: TemporaryFigures) throws -> [IndexAdvice] {
    try temporary.figures { try $0.indexAdvice(now: temporary.clock.now) }
  }

  @Test func duplicatesAreNamedWithWhatReplacesThem() async throws {
    try await withFigures { temporary in
      let duplicates = try advice(temporary).map { [$0.index, $0.duplicateOf] }
      // Neither a sparse index nor one before a list is replaced by a longer one.
      #expect(duplicates == [["byNameAgain", "byName"], ["byRank", "byRankAndYear"]])
    }
  }

  @Test func anIndexWithoutAUseForAWeekIsUnused() async throws {
    try await withFigures { temporary in
      try await temporary.addBooks(30)
      try await temporary.recorder.flush(to: temporary.store)
      temporary.clock.advance(by: 7 * 86_400 - 1)
      #expect(try advice(temporary).allSatisfy { $0.reason == .duplicate })
      let years = FetchRequest(
        entityName: "Book", predicate: try FetchPredicate(format: "year > 3"))
      _ = try temporary.store.fetch(years)
      try await temporary.recorder.flush(to: temporary.store)
      let used = try temporary.figures { try $0.indexUses() }.filter { $0.uses > 0 }.map(\.index)
      temporary.clock.advance(by: 1)
      let unused = try advice(temporary).filter { $0.reason == .unused }
      #expect(used.count == 1 && !unused.map(\.index).contains(used[0]))
      #expect(unused.count == 6 && !unused.map(\.index).contains("byName"))
      #expect(unused.allSatisfy { $0.unusedSince != nil && $0.entity == "Book" })
    }
  }

  @Test func anIndexThatReplacesAUsedOneIsNotUnused() async throws {
    try await withFigures { temporary in
      try await temporary.recorder.flush(to: temporary.store)
      try await temporary.store.write { transaction in
        let layout = try transaction.layout("Book")
        var uses = PendingFigures()
        uses.add([try layout.index(named: "byRank").description.id: 1], at: transaction.now)
        var writer = FigureWriter(transaction)
        _ = try writer.write(uses, registersIndexes: true)
      }
      temporary.clock.advance(by: 30 * 86_400)
      let unused = try advice(temporary).filter { $0.reason == .unused }.map(\.index)
      #expect(!unused.contains("byRankAndYear") && unused.contains("byRankDown"))
    }
  }

  @Test func theMigrationsDropTheIndexes() async throws {
    try await withFigures { temporary in
      try await temporary.recorder.flush(to: temporary.store)
      temporary.clock.advance(by: 8 * 86_400)
      let found = try advice(temporary)
      #expect(found.count == 9)
      #expect(
        found.first { $0.index == "byRankDown" }?.migration == """
          line: local
          summary: Drop the index Book.byRankDown
          requires: [books@1]
          steps:
            - dropIndex: { on: Book, name: byRankDown }
          down:
            - createIndex: { on: Book, name: byRankDown, keys: [rank desc] }

          """)
      let files = found.enumerated().map { number, advice in
        (name: "000\(number + 1)_drop", bytes: Array(advice.migration.utf8))
      }
      let local = MigrationSource(embedded: files)
      let store = try openFigures(
        temporary.folder, temporary.clock, temporary.recorder,
        migrations: [.books, .figures, local])
      _ = try store.migrate()
      let indexes = try #require(try store.schema.entity(named: "Book")).indexes.map(\.name)
      #expect(indexes == ["byName"])
      #expect(try store.read { try StoreFigures($0).indexAdvice(now: temporary.clock.now) }.isEmpty)
      // The uses of dropped indexes go with the next uses.
      _ = try store.fetch(
        FetchRequest(entityName: "Book", sortBy: [SortKey("name")], fetchLimit: 1))
      try await temporary.recorder.flush(to: store)
      #expect(try store.read { try $0.count(of: "_IndexUse") } == 1)
      store.close()
    }
  }

  @Test func indexesOfRelationshipsAreNotAdvisedAgainst() async throws {
    let file = """
      line: shelves
      summary: Shelves and their books
      steps:
        - createEntity: { name: Shelf, attributes: [{ name: name, type: string }] }
        - createEntity: { name: Volume, attributes: [{ name: title, type: string }] }
        - createRelationship:
            { on: Volume, name: shelf, to: Shelf, inverse: { name: volumes, many: true } }
      """
    let shelves = MigrationSource(embedded: [("0001_shelves", Array(file.utf8))])
    try await withFigures(migrations: [shelves, .figures]) { temporary in
      try await temporary.recorder.flush(to: temporary.store)
      temporary.clock.advance(by: 30 * 86_400)
      #expect(try advice(temporary).isEmpty)
    }
  }
}

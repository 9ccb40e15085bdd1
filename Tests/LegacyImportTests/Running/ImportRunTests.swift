import EntityModel
import EntityStore
import Foundation
import LegacyImport
import SystemSupport
import TestSupport
import Testing

struct ImportRunTests {
  @Test func everyRowBecomesARecordWithItsValuesAndLinks() async throws {
    try await withLibrary { library in
      let report = try library.run()
      #expect(report.isBalanced && report.isWithinLimit, "\(report)")
      #expect(report.rejected == 0)
      #expect(try library.count("Book") == 100)
      #expect(report.entities.map(\.written.new) == [2, 100, 3])
      #expect(report.entities.allSatisfy { $0.expectedDigest == $0.foundDigest })
      #expect(report.relationships.map(\.linked) == [100, 83, 99])
      let book = try #require(try library.book(6))
      #expect(try book["pages"] == .int64(6))
      #expect(try book["boughtAt"] == .date(Date(timeIntervalSince1970: 1_700_000_006)))
      #expect(try book["cover"] == .data(Data([0, 255])))
      #expect(try book["note"] == .string("none"))
      try library.store.read { snapshot in
        let tags = try snapshot.related(book.id, "tags").map { try snapshot.get($0)?["word"] }
        #expect(tags == [.string("blue"), .string("red")])
        let sequel = try #require(try snapshot.relatedObject(book.id, "sequel"))
        #expect(try snapshot.get(sequel)?["isbn"] == .string("isbn 7"))
        let shelf = try #require(try snapshot.relatedObject(book.id, "shelf"))
        #expect(try snapshot.get(shelf)?["name"] == .string("left"))
      }
    }
  }

  @Test func aSecondRunOfTheSameFileWritesNoRecord() async throws {
    try await withLibrary { library in
      try library.run()
      let before = try library.store.read { try $0.fetch(FetchRequest(entityName: "Book")) }
      let report = try library.run()
      #expect(report.isBalanced && report.run == 2)
      #expect(report.entities.map(\.written.unchanged) == [2, 100, 3])
      #expect(report.entities.allSatisfy { $0.written.new == 0 && $0.written.changed == 0 })
      let after = try library.store.read { try $0.fetch(FetchRequest(entityName: "Book")) }
      #expect("\(before)" == "\(after)")
    }
  }

  @Test func aLaterRunChangesOnlyWhatHasChanged() async throws {
    try await withLibrary { library in
      try library.run()
      let edited = try #require(try library.book(10))
      let deleted = try #require(try library.book(11))
      try await library.store.write { transaction in
        try transaction.update(edited.id) { try $0.set("title", to: .string("mine")) }
        try transaction.delete(deleted.id)
      }
      try library.file.run(
        """
        UPDATE book SET title = 'other' WHERE id = 20;
        UPDATE book SET sequel = NULL WHERE id = 21;
        UPDATE book SET shelf = 2 WHERE id = 22;
        INSERT INTO book (id, isbn, title, shelf) VALUES (1000, 'isbn 1000', 'new', 2);
        DELETE FROM book WHERE id = 30;
        DELETE FROM book_tag WHERE book = 40;
        INSERT INTO book_tag VALUES (41, 'green', 1);
        """)
      let report = try library.run()
      #expect(report.isBalanced, "\(report)")
      let books = report.entities[1]
      #expect(books.written.new == 1 && books.written.changed == 3)
      #expect(books.written.unchanged == 96)
      #expect(books.edited == 1 && books.deleted == 1)
      #expect(report.gone == 1 && report.goneRows == ["book 30"])
      #expect(try library.count("Book") == 100)
      #expect(try library.book(10)?["title"] == .string("mine"))
      #expect(try library.book(20)?["title"] == .string("other"))
      #expect(try library.book(11) == nil)
      #expect(try library.book(30) != nil)
      try library.store.read { snapshot in
        func related(_ number: Int, _ name: String) throws -> [ObjectID] {
          guard let book = try snapshot.get("Book", by: ["isbn": .string("isbn \(number)")]) else {
            return []
          }
          return try snapshot.related(book.id, name)
        }
        #expect(try related(21, "sequel").isEmpty)
        #expect(try related(20, "sequel").count == 1)
        #expect(try related(40, "tags").isEmpty)
        #expect(try related(41, "tags").count == 1)
        let shelves = try [related(22, "shelf"), related(24, "shelf")]
        #expect(shelves[0] != shelves[1])
      }
    }
  }

  @Test func unusableRowsAreRejectedWithTheirReasonAndTheRestIsImported() async throws {
    try await withLibrary { library in
      try library.file.run(
        """
        UPDATE book SET title = NULL WHERE id = 1;
        UPDATE book SET pages = 'twelve' WHERE id = 2;
        UPDATE book SET bought = 1e300 WHERE id = 3;
        UPDATE book SET isbn = 'isbn 50' WHERE id = 60;
        UPDATE book SET title = printf('%.*c', 41, 'x') WHERE id = 4;
        UPDATE book SET title = CAST(x'ff41' AS TEXT) WHERE id = 5;
        UPDATE book SET shelf = 99 WHERE id = 6;
        INSERT INTO book_tag VALUES (7, 'nowhere', 1), (777, 'red', 1), (8, NULL, 3);
        """)
      let (plan, planned) = try library.plan()
      let report = try library.run()
      let rejects = try library.rejects()
      #expect(report.isBalanced && plan.isBalanced, "\(report)")
      #expect(
        report.rejects == [
          "null_required": 1, "bad_number": 1, "out_of_range": 1, "not_unique": 1, "invalid": 1,
          "bad_utf8": 1, "orphan": 3, "row_rejected": 6,
        ], "\(report.rejects)")
      #expect(plan.rejects == report.rejects)
      func described(_ rejects: [ImportReject]) -> Set<String> {
        Set(rejects.map { "\($0.table) \($0.key) \($0.property ?? "-") \($0.code)" })
      }
      #expect(described(rejects) == described(planned))
      #expect(described(rejects).contains("book 2 pages bad_number"))
      #expect(report.tables[1].accepted == 94 && report.tables[1].rejected == 6)
      #expect(try library.count("Book") == 94)
      // Corrected, they are taken by the next run.
      try library.file.run(
        """
        UPDATE book SET title = 'one' WHERE id = 1;
        UPDATE book SET isbn = 'isbn 60' WHERE id = 60;
        """)
      let mapping = Library.mapping
        .replacing("pages: pages", with: "pages: { column: pages, orElse: null }")
        .replacing("title: title", with: "title: { column: title, badText: latin1 }")
      let second = try library.run(mapping)
      #expect(second.isBalanced, "\(second)")
      #expect(try library.count("Book") == 98)
      #expect(try library.book(5)?["title"] == .string("ÿA"))
    }
  }

  @Test func aPlanWritesNothingAndPredictsTheRun() async throws {
    try await withLibrary { library in
      let (plan, rejects) = try library.plan()
      #expect(plan.isPlan && plan.isBalanced && rejects.isEmpty)
      #expect(try library.count("Book") == 0)
      #expect(try library.store.imports().isEmpty)
      let report = try library.run()
      #expect(plan.tables == report.tables)
      #expect(plan.entities.map(\.written) == report.entities.map(\.written))
      #expect(
        plan.relationships.map { [$0.rows, $0.linked, $0.empty, $0.skipped] }
          == report.relationships.map { [$0.rows, $0.linked, $0.empty, $0.skipped] })
    }
  }

  @Test func existingRecordsAreUpdatedByTheRowsThatMatchThem() async throws {
    try await withLibrary { library in
      try await library.store.write { transaction in
        try transaction.insert(
          "Book", ["isbn": "isbn 3", "title": "there", "note": "kept"])
      }
      let mapping = Library.mapping.replacing(
        "table: book\n", with: "table: book\n    match: [isbn]\n")
      let report = try library.run(mapping)
      #expect(report.isBalanced, "\(report)")
      #expect(try library.count("Book") == 100)
      let book = try #require(try library.book(3))
      #expect(try book["title"] == .string("title 3") && book["note"] == .string("kept"))
    }
  }

  @Test func rowsThatNoEntityTakesAreCountedAsSkipped() async throws {
    try await withLibrary { library in
      let mapping = Library.mapping.replacing(
        "table: book\n", with: "table: book\n    where: { pages: [1, 2] }\n")
      let report = try library.run(mapping)
      #expect(report.isBalanced, "\(report)")
      #expect(report.tables[1].accepted == 30 && report.tables[1].skipped == 70)
    }
  }

  @Test func aPlanCanBeCancelledAtEachLink() async throws {
    try await withLibrary(books: 100) { library in
      let mapping = try MappingText(Array(Library.mapping.utf8), file: "map.yaml")
      // Returns how often the plan asks, and its error. The last answer is yes.
      func questions(upTo last: Int) -> (Int, (any Error)?) {
        let count = Locked(0)
        var options = LegacyFile.Options()
        options.isCancelled = {
          count.withLock { count in
            count += 1
            return count == last
          }
        }
        do {
          _ = try LegacyFile(library.file.path, options).plan(mapping, in: library.store)
          return (count.withLock { $0 }, nil)
        } catch {
          return (count.withLock { $0 }, error)
        }
      }
      let (all, error) = questions(upTo: .max)
      // The shelf of each book, and the sequel of each but the last one.
      #expect(all >= 100 + 99 && error == nil)
      for last in [1, all / 2, all] {
        let (asked, error) = questions(upTo: last)
        #expect(asked == last && error is CancellationError)
      }
    }
  }

  /// The bytes are those that version 0.1 saved. A run that starts from the beginning counts other
  /// rows as new than these.
  @Test(arguments: [
    (
      stop: ImportProgress.Stage.objects,
      stage: #"{"objects":{"after":{"rowID":{"_0":BOOKS}},"table":1}}"#
    ),
    (stop: .links, stage: #"{"links":{"_0":1}}"#),
  ])
  func aRunThatAnEarlierProgramHasLeftUnfinishedResumes(
    stop: ImportProgress.Stage, stage: String
  ) async throws {
    try await withLibrary(books: 6_000) { library in
      let isFar = Locked(false)
      var options = LegacyFile.Options()
      options.isCancelled = { isFar.withLock { $0 } }
      options.progress = { progress in
        if progress.stage == stop, progress.name != "shelf" { isFar.withLock { $0 = true } }
      }
      #expect(throws: CancellationError.self) { try library.run(Library.mapping, options) }
      let books = try library.count("Book")
      let tags = try library.count("Tag")
      #expect(stop == .links ? books == 6_000 : books < 6_000)
      let source = try #require(
        try library.store.read { try $0.get("_Import", by: ["name": .string("library")]) })
      guard case .string(let fingerprint) = try source["fingerprint"],
        case .string(let mapping) = try source["mapping"]
      else { return #expect(Bool(false)) }
      func counts(_ new: Int) -> String {
        #"{"changed":0,"deleted":0,"new":\#(new),"unchanged":0}"#
      }
      let saved = """
        {"counts":[\(counts(2)),\(counts(books)),\(counts(tags))],"fingerprint":"\(fingerprint)",\
        "mapping":"\(mapping)","run":1,"stage":\(stage.replacing("BOOKS", with: "\(books)"))}
        """
      try await library.store.write { transaction in
        let id = try #require(
          try transaction.objectID("_ChunkedWrite", by: ["name": .string("import library")]))
        try transaction.update(id) { record in
          try record.set("frontier", to: .data(Data(saved.utf8)))
          try record.set("rows", to: .int64(1_322))
          try record.set("chunks", to: .int64(0))
        }
      }
      let report = try library.run()
      #expect(report.isBalanced && report.run == 1, "\(report.run)")
      #expect(report.entities.map(\.written.new) == [2, 6_000, 3])
      #expect(report.entities.allSatisfy { $0.written.unchanged == 0 })
    }
  }

  @Test func anInterruptedRunIsCompletedByTheNext() async throws {
    try await withLibrary(books: 20_000) { library in
      let isFar = Locked(false)
      var options = LegacyFile.Options()
      options.isCancelled = { isFar.withLock { $0 } }
      options.progress = { progress in
        if progress.name == "book", progress.done >= 4_000 { isFar.withLock { $0 = true } }
      }
      #expect(throws: CancellationError.self) { try library.run(Library.mapping, options) }
      let status = try #require(try library.store.imports().first)
      #expect(status.state == "interrupted")
      let report = try library.run()
      #expect(report.isBalanced && report.run == 1, "\(report.run)")
      #expect(try library.count("Book") == 20_000)
      #expect(try library.store.imports().first?.state == "balanced")
    }
  }

  @Test func aChangedLinkInTheStoreIsFoundByTheVerification() async throws {
    try await withLibrary { library in
      try library.run()
      let book = try #require(try library.book(6))
      try await library.store.write { try $0.setRelated(book.id, "tags", to: [ObjectID]()) }
      let report = try library.run()
      #expect(report.isBalanced)
      #expect(report.relationships[1].edited == 1)
    }
  }

  @Test func aFileThatIsBeingImportedIsNotImportedTwiceAtOnce() async throws {
    try await withLibrary { library in
      let inner = Locked<(any Error)?>(nil)
      let path = library.file.path
      let store = library.store
      var options = LegacyFile.Options()
      options.progress = { progress in
        guard progress.stage == .objects else { return }
        do {
          _ = try LegacyFile(path).run(
            try MappingText(Array(Library.mapping.utf8), file: "map.yaml"), in: store)
        } catch { inner.withLock { $0 = error } }
      }
      try library.run(Library.mapping, options)
      let error = inner.withLock { $0 } as? ImportError
      #expect(error?.code == .running)
    }
  }

  @Test func differencesFromTheSourceAreReportedAsNotBalanced() async throws {
    try await withLibrary { library in
      let store = library.store
      let isDone = Locked(false)
      var options = LegacyFile.Options()
      options.progress = { progress in
        guard progress.stage == .links,
          isDone.withLock({ done in
            defer { done = true }
            return !done
          })
        else { return }
        // Somebody writes between what the run has written and what it reads back.
        do {
          try store.writeBlocking { transaction in
            for isbn in [6, 7] {
              let id = try transaction.objectID("Book", by: ["isbn": .string("isbn \(isbn)")])
              guard let id else { throw StoreError.missing(ObjectID(entity: "Book", number: 0)) }
              if isbn == 6 {
                try transaction.update(id) { try $0.set("title", to: .string("changed")) }
              } else {
                try transaction.delete(id)
              }
            }
          }
        } catch {
          Issue.record(error)
        }
      }
      let report = try library.run(Library.mapping, options)
      #expect(!report.isBalanced)
      let books = report.entities[1]
      #expect(books.expectedDigest != books.foundDigest)
      #expect(books.expected == 100 && books.found == 99 && books.problems.count == 2)
      #expect(books.problems.contains { $0.contains("row 6") && $0.contains("other values") })
      #expect(books.problems.contains { $0.contains("row 7") && $0.contains("is not there") })
      #expect(try store.imports().first?.state == "unbalanced")
    }
  }
}

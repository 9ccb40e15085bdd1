import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

/// Typed fetches: their sort keys, columns and requests.
@Suite struct FetchDescriptorTests {
  @Test func sortKeysAreTranslated() throws {
    func keys(_ sortBy: [SortBy<Probe>]) throws -> [String] {
      try FetchDescriptor<Probe>(sortBy: sortBy).request().sortBy.map(\.description)
    }
    #expect(
      try keys([
        .init(\.title, collation: .localizedStandard, order: .reverse), .init(\.place.row),
      ]) == ["title localized desc", "row"])
    #expect(try keys([SortBy(\.title, order: .reverse).reversed]) == ["title"])
    #expect(
      try FetchDescriptor<Probe>(
        sortBy: [
          SortDescriptor(\.level, order: .reverse), SortDescriptor(\.name, comparator: .lexical),
        ]
      ).request().sortBy.map(\.description) == ["level desc", "name"])
    #expect(
      try FetchDescriptor<Probe>(sortBy: [KeyPathComparator(\.number, order: .reverse)])
        .request().sortBy.map(\.description) == ["number desc"])
    #expect(code { try keys([.init(\.body.count)]) } == .invalidRequest)
  }

  @Test func sortKeysGoThroughRelationships() throws {
    let request = try FetchDescriptor<Chapter>(sortBy: [
      .init(\.book, \.title, collation: .caseInsensitive),
      .init(\.book, .init(\.series, \.name, order: .reverse)), .init(\.pages),
    ]).request()
    #expect(
      request.sortBy == [
        SortKey("book.title", collation: .caseInsensitive),
        SortKey("book.series.name", descending: true), SortKey("pages"),
      ])
  }

  @Test func aDescriptorIsARequestByNames() throws {
    var descriptor = try FetchDescriptor(
      predicate: #Predicate<Chapter> { $0.pages > 3 }, sortBy: [SortDescriptor(\.title)],
      fetchLimit: 5, fetchOffset: 2)
    descriptor.propertiesToFetch = [\.title, \.book]
    descriptor.relationshipKeyPathsForPrefetching = [\.book]
    descriptor.fetchBatchSize = 20
    var expected = FetchRequest(
      entityName: "Chapter", predicate: .comparison("pages", .greater, 3),
      sortBy: [SortKey("title")], fetchLimit: 5, fetchOffset: 2)
    expected.propertiesToFetch = ["title", "book"]
    expected.relationshipKeyPathsForPrefetching = ["book"]
    expected.fetchBatchSize = 20
    #expect(try descriptor.request() == expected)
    #expect(Chapter.fetchRequest() == FetchRequest(entityName: "Chapter"))
  }

  @Test func aKeyPathIsAnArgumentOfAPredicate() throws {
    let argument: any PredicateArgument = \Probe.place.row
    #expect(try argument.predicateExpression() == .path("row"))
    #expect(try (\Chapter.book).predicateExpression() == .path("book"))
    #expect(code { try (\Probe.body.count).predicateExpression() } == .invalidRequest)
    #expect(try Probe.Kind.small.predicateExpression() == .value(1))
    let predicate = try FetchPredicate(
      format: "%K != nil AND %K == %@", \Probe.dueAt, \Probe.kind, Probe.Kind.small)
    #expect(predicate == .and([.isNotNull("dueAt"), .comparison("kind", .equal, 1)]))
  }

  @Test func aTypedFetchTakesEitherForm() async throws {
    try await withTemporaryStore(seed: 5, migrations: [.probes]) { temporary in
      var random = temporary.random
      let probes = (0..<60).map { Probe(name: "n\($0)", random: &random) }
      try await temporary.store.write { transaction in
        for probe in probes { try transaction.insert(probe) }
      }
      let open = probes.filter { $0.isOpen == true }.sorted {
        ($0.number, $0.name) > ($1.number, $1.name)
      }
      var descriptor = try FetchDescriptor(
        predicate: #Predicate<Probe> { $0.isOpen == true },
        sortBy: [
          SortDescriptor(\.number, order: .reverse), SortDescriptor(\.name, order: .reverse),
        ])
      #expect(try temporary.store.fetch(descriptor) == open, "seed \(random.seed)")
      #expect(
        try temporary.store.fetch(try descriptor.request(), as: Probe.self) == open,
        "seed \(random.seed)")
      #expect(try temporary.store.fetchIdentifiers(descriptor).count == open.count)
      descriptor.propertiesToFetch = [\.name, \.kind]
      #expect(
        try temporary.store.fetchRows(descriptor).map(\.values)
          == open.map { [.string($0.name), $0.kind.value] }, "seed \(random.seed)")
      #expect(
        code { try temporary.store.fetch(FetchRequest(entityName: "_Job"), as: Probe.self) }
          == .invalidRequest)
    }
  }

  @Test func aRawValueWithoutACaseIsKept() async throws {
    try await withTemporaryStore(seed: 6, migrations: [.probes]) { temporary in
      var random = temporary.random
      var probe = Probe(name: "a", random: &random)
      probe.grade = Stored(rawValue: 7)
      let inserted = probe
      let id = try await temporary.store.write { try $0.insert(inserted) }
      let found = try #require(try temporary.store.read { try $0.get(Probe.self, id) })
      #expect(found.grade?.value == nil)
      #expect(found.grade?.rawValue == 7)
      try await temporary.store.write { try $0.update(id) { try $0.set("grade", to: 2) } }
      #expect(try temporary.store.read { try $0.get(Probe.self, id) }?.grade?.value == .high)
    }
  }
}

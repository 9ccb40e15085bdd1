import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

/// Every kind of live results, compared with a fetch of the same request.
@Suite struct LiveKindsTests {
  private final class Observers {
    let request: FetchRequest
    private let sectionBy: String?
    private let results: LiveQuery<Record>
    private let count: DependentValue<Int>
    private let rows: DependentValue<[ResultRow]>
    private var snapshot: ResultsSnapshot<Record>?
    private var shownCount: Int?
    private var shownRows: [ResultRow]?
    private(set) var origins: Set<ResultsUpdate<Record>.Origin> = []

    init(_ request: FetchRequest, sectionBy: String?) {
      self.request = request
      self.sectionBy = sectionBy
      results = LiveQuery(LiveRequest(source: RecordSource(request), sectionPath: sectionBy))
      count = DependentValue(request) { try $0.count(request) }
      rows = DependentValue(request, readsRows: true) { try $0.fetchRows(request) }
    }

    func step(_ store: Store) throws {
      try store.read { transaction in
        let fresh = try transaction.fetch(request)
        if let update = try results.advance(in: transaction) {
          origins.insert(update.origin)
          let applied = try snapshot.map { try $0.applying(update.changes) }
          #expect(
            applied.map(Self.text) ?? [] == (applied == nil ? [] : Self.text(update.snapshot)))
          snapshot = update.snapshot
        }
        let shown = try #require(snapshot)
        #expect(shown.map(\.value.id) == fresh.map(\.id), "\(request)")
        #expect(shown.map(\.value.values) == fresh.map(\.values), "\(request)")
        shownCount = try count.advance(in: transaction) ?? shownCount
        #expect(shownCount == fresh.count, "\(request)")
        shownRows = try rows.advance(in: transaction) ?? shownRows
        #expect(try shownRows == transaction.fetchRows(request), "\(request)")
      }
    }

    func expectSections(_ store: Store, cacheName: String) async throws {
      guard let sectionBy, let snapshot else { return }
      let sections = try await store.sections(of: request, by: sectionBy, cacheName: cacheName)
      #expect(sections == snapshot.sections, "\(request)")
    }

    private static func text(_ snapshot: ResultsSnapshot<Record>) -> [String] {
      snapshot.sections.map { "\($0.name.text): \($0.count)" }
        + snapshot.map { "\($0.id) \($0.section.text) \($0.value.values.map(\.text))" }
    }
  }

  @Test(arguments: [1, 2, 3])
  func everyKindOfLiveResultEqualsAFetch(seed: UInt64) async throws {
    try await withTemporaryStore(seed: seed, migrations: [.railway]) { temporary in
      let store = temporary.store
      var random = temporary.random
      func change() async throws {
        random = try await store.write { [random] transaction in
          var random = random
          try Railway.change(transaction, using: &random)
          return random
        }
      }
      for _ in 0..<40 { try await change() }
      var observers: [Observers] = []
      for _ in 0..<(isThorough ? 300 : 40) {
        let (request, sectionBy) = try Railway.request(using: &random)
        observers.append(Observers(request, sectionBy: sectionBy))
      }
      for round in 0..<(isThorough ? 300 : 40) {
        if round > 0 { try await change() }
        for (number, observer) in observers.enumerated() {
          try observer.step(store)
          try await observer.expectSections(store, cacheName: "\(number)")
        }
      }
      let origins = Set(observers.flatMap(\.origins))
      #expect(
        origins.isSuperset(of: [.changes, .fetched(.relationship), .fetched(.historyIncomplete)]))
    }
  }
}

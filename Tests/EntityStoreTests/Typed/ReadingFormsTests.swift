import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

/// The forms of a read and of a write: arrays and closures, blocking and asynchronous, on stores,
/// drafts and repositories.
@Suite struct ReadingFormsTests {
  private static let descriptor = FetchDescriptor<WideRow>(sortBy: [SortBy(\.a, order: .reverse)])

  @Test func everyFormOfAFetchReturnsTheSameRecords() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let ids = Array(try await store.fillWide(5).reversed())
      let names = (0..<5).reversed().map { BatchSamples.name($0) }
      var request = try Self.descriptor.request()
      request.propertiesToFetch = ["a"]

      let identified = try store.fetchIdentified(request, as: WideRow.self)
      #expect(identified.map(\.id) == ids && identified.map(\.value.a) == names)
      #expect(try store.read { try $0.fetchIdentified(Self.descriptor) } == identified)
      #expect(try store.fetchIdentifiers(request) == ids && store.count(request) == 5)
      let repository = Repository(store)
      #expect(try await repository.fetchIdentified(Self.descriptor) == identified)
      #expect(try await repository.fetchIdentifiers(Self.descriptor) == ids)

      var values: [String] = []
      var records: [ObjectID] = []
      var rows: [[Value]] = []
      try store.forEach(Self.descriptor) { row in
        values.append(row.a)
        return values.count < 3
      }
      try store.forEach(request) { record in
        records.append(record.id)
        return true
      }
      try store.forEachRow(request) { row in
        rows.append(row.values)
        return true
      }
      #expect(values == Array(names.prefix(3)) && records == ids)
      #expect(rows == names.map { [.string($0)] })
    }
  }

  @Test func aDraftReturnsTemporaryIdentities() async throws {
    try await withTemporaryStore { temporary in
      let ids = try await temporary.store.fillWide(2)
      let draft = temporary.store.draft()
      let new = try draft.insert(WideRow(a: "zz"))
      let identified = try draft.fetchIdentified(Self.descriptor)
      #expect(identified.map(\.id) == [new, ids[1], ids[0]])
      #expect(try draft.fetch(Self.descriptor) == identified.map(\.value))
    }
  }

  @Test func aBlockingWriteReturnsAfterItsCommit() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let id = try await onThread {
        try store.writeBlocking(author: "thread") { try $0.insert(WideRow(a: "blocking")) }
      }
      #expect(try store.read { try $0.get(WideRow.self, id) }?.a == "blocking")
      struct Refusal: Error {}
      await #expect(throws: Refusal.self) {
        try await onThread {
          try store.writeBlocking { transaction in
            try transaction.insert(WideRow(a: "refused"))
            throw Refusal()
          }
        }
      }
      #expect(try store.count(Self.descriptor) == 1)
    }
  }
}

import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore

@Suite struct RowBuilderTests {
  /// A builder that is used again, with values that are set once or twice, in any order.
  @Test func aBuiltRowHasTheBytesOfAnEncodedOne() async throws {
    try await withTemporaryStore(seed: 46) { temporary in
      var random = temporary.random
      let entity = try temporary.store.catalog().entity("Sample")
      let attributes = entity.description.attributes
      var row = RowBuilder(entity)
      var (reused, whole): ([UInt8], [UInt8]) = ([], [])
      for round in 0..<500 {
        row.removeAll()
        var changes = RowChanges()
        for _ in 0..<random.number(0...12) {
          let position = random.number(0...(attributes.count - 1))
          let kind = attributes[position].type.kind
          let value: Value = random.oneIn(5) ? .null : random.value(kind)
          changes.set(position, to: value)
          Self.set(value, at: position, in: &row)
          #expect(row.isNull(position) == value.isNull)
        }
        entity.encode(changes.laid(over: entity.newRow()), into: &whole)
        row.write(to: &reused)
        try #require(reused == whole, "seed \(random.seed), round \(round)")
        let built = row.row()
        #expect(built.withBytes { Array($0) } == whole)
        #expect(row.byteCount == whole.count && row.marks == changes.marks && built.marks == 0)
      }
    }
  }

  @Test func theValuesOfAnInsertedRowAreValidated() async throws {
    try await withTemporaryStore(seed: 47) { temporary in
      let store = temporary.store
      let entity = try store.catalog().entity("Sample")
      let attributes = entity.description.attributes
      let name = try #require(attributes.firstIndex { $0.name == "name" })
      let position = try #require(attributes.firstIndex { $0.type.kind == .double })
      for number in [1.5, .nan] {
        do {
          let id = try await store.write { transaction in
            var row = RowBuilder(entity)
            row.set("a", at: name)
            row.set(number, at: position)
            return try transaction.insert(row, into: entity)
          }
          let stored = try store.read { try $0.row(id, of: entity)?.value(position) }
          #expect(stored == .double(number))
        } catch let error as StoreError {
          #expect(number.isNaN && error.code == .validation)
        }
      }
    }
  }

  @Test func aCopyThatBreaksARuleIsNotInserted() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let entity = try store.catalog().entity("Sample")
      let attributes = entity.description.attributes
      let name = try entity.position(of: "name")
      let position = try #require(attributes.firstIndex { $0.type.kind == .double })
      let id = try await store.write { try $0.insert("Sample", ["name": "a"]).number }
      let error = await #expect(throws: StoreError.self) {
        try await store.write { transaction in
          var copy = try #require(try transaction.copy(of: id, in: entity))
          copy.set("b", at: name)
          copy.set(.double(.nan), at: position)
          _ = try transaction.insert(copy, into: entity)
        }
      }
      #expect(error?.code == .validation)
      #expect(error?.property == attributes[position].name)
      #expect(try store.read { try $0.count(of: "Sample") } == 1)
    }
  }

  /// Sets a value by the function for its kind, if there is one.
  private static func set(_ value: Value, at position: Int, in row: inout RowBuilder) {
    switch value {
    case .null: row.setNull(position)
    case .int64(let number): row.set(number, at: position)
    case .double(let number): row.set(number, at: position)
    case .date(let date): row.set(date, at: position)
    case .string(let text): row.set(text, at: position)
    case .data(let data): data.withUnsafeBytes { row.set($0, of: .data, at: position) }
    default: row.set(value, at: position)
    }
  }
}

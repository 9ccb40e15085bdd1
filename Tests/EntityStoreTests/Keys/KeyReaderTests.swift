import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore

/// Keys read back into values.
@Suite struct KeyReaderTests {
  @Test func everyKeyReadsBackAsTheValuesItWasWrittenOf() async throws {
    try await withTemporaryStore(seed: 23) { temporary in
      var random = temporary.random
      for name in ["Sample", "Wide"] {
        let entity = try temporary.store.catalog().entity(name)
        for _ in 0..<400 {
          let row = random.row(of: entity.description.attributes)
          for index in entity.indexes {
            for key in try IndexKeyTests.keys(of: row, index, entity) {
              let parts = try #require(
                key.bytes.withUnsafeBytes { KeyReader(index).parts(of: $0) },
                "seed \(random.seed), \(name).\(index.description.name), \(row)")
              #expect(parts.contains(where: \.isCut) == key.isCut)
              for (part, read) in zip(index.parts, parts) {
                try #require(
                  Self.stands(read, for: Self.sortedBy(row[part.position], part)),
                  "seed \(random.seed), \(name).\(index.description.name): \(read), \(row)")
              }
            }
          }
        }
      }
    }
  }

  /// Returns the value that the key holds in place of the attribute's.
  private static func sortedBy(_ value: Value, _ part: IndexLayout.Part) -> Value {
    guard let collation = part.collation, case .string(let text) = value else { return value }
    if collation.keepsText { return .string(NaiveCollation.fold(text)) }
    return .data(Data(Array(text.utf8).withUnsafeBytes { collation.key(of: $0) }))
  }

  /// Returns true if the decoded part is equal to the attribute's value.
  private static func stands(_ read: IndexKeyPart, for value: Value) -> Bool {
    if case .strings(let list) = value, case .string(let element) = read.value {
      return list.contains { read.isCut ? begins($0.utf8, with: element) : $0 == element }
    }
    guard read.isCut else { return read.value == value }
    switch (read.value, value) {
    case (.string(let beginning), .string(let text)): return begins(text.utf8, with: beginning)
    case (.data(let beginning), .data(let data)): return data.starts(with: beginning)
    case (.url(let beginning), .url(let url)):
      return begins(url.absoluteString.utf8, with: beginning.absoluteString)
    case (.string(let beginning), .url(let url)):
      return begins(url.absoluteString.utf8, with: beginning)
    default: return false
    }
  }

  private static func begins(_ text: String.UTF8View, with beginning: String) -> Bool {
    !beginning.isEmpty && text.starts(with: beginning.utf8)
  }

  @Test func damagedKeysGiveNoValuesAndNeverATrap() async throws {
    try await withTemporaryStore(seed: 24) { temporary in
      var random = temporary.random
      let entity = try temporary.store.catalog().entity("Sample")
      var unreadable = 0
      for _ in 0..<400 {
        let row = random.row(of: entity.description.attributes)
        for index in entity.indexes {
          for key in try IndexKeyTests.keys(of: row, index, entity) {
            var bytes = key.bytes
            if random.oneIn(2) {
              bytes.removeLast(random.number(1...bytes.count))
            } else {
              bytes[random.number(0...bytes.count - 1)] ^= 1 << UInt8(random.number(0...7))
            }
            let parts = bytes.withUnsafeBytes { KeyReader(index).parts(of: $0) }
            if let parts { #expect(parts.count == index.parts.count) } else { unreadable += 1 }
          }
        }
      }
      #expect(unreadable > 100)
    }
  }

  @Test func theEntriesOfAnIndexIncludeUnsavedOnes() async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { transaction in
        let id = try transaction.insert("Sample", ["name": "a", "rank": 1])
        var found: [Int64?] = []
        try transaction.eachEntry(of: "Sample", index: "byRank") { entry in
          found.append(entry.id)
          return true
        }
        #expect(found == [id.number])
      }
    }
  }

  @Test func theEntriesOfAnIndexComeInItsOrder() async throws {
    try await withTemporaryStore(seed: 25) { temporary in
      var random = temporary.random
      let store = temporary.store
      let attributes = try store.schema.entity(named: "Sample")?.attributes ?? []
      for _ in 0..<60 {
        let row = random.row(of: attributes)
        let values = Dictionary(uniqueKeysWithValues: zip(attributes.map(\.name), row))
        do {
          _ = try await store.write { try $0.insert("Sample", values) }
        } catch let error as StoreError where error.code == .uniqueViolation {
          continue
        }
      }
      try store.read { transaction in
        for index in try transaction.description(of: "Sample").indexes {
          var keys: [[UInt8]] = []
          try transaction.eachEntry(of: "Sample", index: index.name) { entry in
            keys.append(entry.key)
            let id = try #require(entry.id)
            #expect(entry.parts != nil)
            #expect(try transaction.get(ObjectID(entity: "Sample", number: id)) != nil)
            return true
          }
          #expect(keys == keys.sorted { $0.lexicographicallyPrecedes($1) })
        }
        var seen = 0
        let first = try #require(try transaction.description(of: "Sample").indexes.first?.name)
        try transaction.eachEntry(of: "Sample", index: first) { _ in
          seen += 1
          return seen < 3
        }
        #expect(seen == 3)
        #expect(throws: StoreError.self) {
          try transaction.eachEntry(of: "Sample", index: "nope") { _ in true }
        }
      }
    }
  }
}

import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore

/// Complete index keys of several components.
@Suite struct IndexKeyTests {
  @Test func compoundKeysSortAsTheirValuesDo() async throws {
    try await withTemporaryStore(seed: 21) { temporary in
      var random = temporary.random
      let entity = try temporary.store.catalog().entity("Sample")
      let rows = (0..<120).map { _ in random.row(of: entity.description.attributes) }
      for index in entity.indexes where index.listPart == nil && !index.isSparse {
        let keys = try rows.map { try #require(try Self.keys(of: $0, index, entity).first) }
        for (i, a) in rows.enumerated() {
          for (j, b) in rows.enumerated() where j > i {
            let order = KeyOrderTests.order(keys[i].bytes, keys[j].bytes)
            // Where a component was cut, the bytes say nothing about what follows.
            guard let expected = Self.order(a, b, index, untilCut: keys[i].isCut && keys[j].isCut)
            else { continue }
            try #require(
              order == expected,
              "seed \(random.seed), index \(index.description.name): \(a) and \(b)")
          }
        }
      }
    }
  }

  @Test func everyKeyFitsAndItsCutIsDetected() async throws {
    try await withTemporaryStore(seed: 22) { temporary in
      var random = temporary.random
      for name in ["Sample", "Wide"] {
        let entity = try temporary.store.catalog().entity(name)
        for _ in 0..<400 {
          let row = random.row(of: entity.description.attributes)
          for index in entity.indexes {
            for key in try Self.keys(of: row, index, entity) {
              #expect(key.bytes.count <= StoreLimits.keyBytesMax)
              let detected = key.bytes.withUnsafeBytes { index.isCut($0) }
              try #require(
                detected == key.isCut,
                "seed \(random.seed), \(name).\(index.description.name), \(row)")
            }
          }
        }
      }
    }
  }

  @Test func theCutOfALoneTextAmongNullsIsDetected() async throws {
    try await withTemporaryStore { temporary in
      let entity = try temporary.store.catalog().entity("Wide")
      let index = try #require(entity.indexes.first)
      for position in 0..<8 {
        for text in [String(repeating: "x", count: 600), String(repeating: "\0", count: 600)] {
          var row = [Value](repeating: .null, count: 8)
          row[position] = .string(text)
          let key = try #require(try Self.keys(of: row, index, entity).first)
          #expect(key.isCut)
          #expect(key.bytes.withUnsafeBytes { index.isCut($0) })
        }
      }
    }
  }

  @Test func aFetchWritesTheSameBytesAsARecord() async throws {
    try await withTemporaryStore(seed: 23) { temporary in
      var random = temporary.random
      let entity = try temporary.store.catalog().entity("Sample")
      for _ in 0..<300 {
        let row = random.row(of: entity.description.attributes)
        for index in entity.indexes where index.listPart == nil {
          guard let key = try Self.keys(of: row, index, entity).first else { continue }
          var writer = KeyWriter()
          for part in index.parts { index.append(part, row[part.position], to: &writer) }
          let sort = key.bytes.withUnsafeBytes { Array(index.sortBytes(of: $0)) }
          try #require(Array(writer.bytes) == sort, "seed \(random.seed): \(row)")
          #expect(writer.isCut == key.isCut)
        }
      }
    }
  }

  @Test func anEntryGivesTheObjectIDBack() async throws {
    try await withTemporaryStore(seed: 24) { temporary in
      var random = temporary.random
      let entity = try temporary.store.catalog().entity("Sample")
      let row = random.row(of: entity.description.attributes)
      for id in [Int64.min, -1, 0, 1, 77, .max] {
        for index in entity.indexes where !index.isUnique {
          for key in try Self.keys(of: row, index, entity, id: id) {
            key.bytes.withUnsafeBytes {
              #expect(
                index.objectID(key: $0, value: UnsafeRawBufferPointer(start: nil, count: 0)) == id)
            }
          }
        }
      }
    }
  }

  @Test func aDamagedDecimalIsAnErrorAndWritesNothingOutsideOfTheKey() async throws {
    try await withTemporaryStore { temporary in
      let entity = try temporary.store.catalog().entity("Sample")
      var row = entity.description.attributes.map(\.defaultValue)
      row[try entity.position(of: "name")] = "a"
      // The bytes of a title, read as those of a price: as long as a record may be.
      let title = try entity.position(of: "title")
      let price = try entity.position(of: "price")
      row[title] = .string(String(repeating: "t", count: 100_000))
      row[price] = .decimal(1)
      var bytes: [UInt8] = []
      entity.encode(row, into: &bytes)
      let slots = entity.description.layouts.last!.slots
      let geometry = RecordGeometry(entity.description.layouts.last!)
      let titleSlot = slots.firstIndex {
        $0.attributeID == entity.description.attributes[title].id
      }!
      let priceSlot = slots.firstIndex {
        $0.attributeID == entity.description.attributes[price].id
      }!
      let titleEnd = Array(bytes[geometry.offsets[titleSlot]..<geometry.offsets[titleSlot] + 4])
      bytes.replaceSubrange(
        geometry.offsets[priceSlot]..<geometry.offsets[priceSlot] + 4, with: titleEnd)
      try bytes.withUnsafeBytes { bytes in
        let view = try #require(entity.record.view(of: bytes))
        let index = try #require(entity.indexes.first { $0.description.name == "byPrice" })
        var writer = KeyWriter()
        #expect(throws: RecordDamage.self) {
          try index.eachKey(of: view, id: 1, writer: &writer) { _ in }
        }
      }
    }
  }

  // MARK: Keys and their order, naively

  struct Key {
    let bytes: [UInt8]
    let isCut: Bool
  }

  static func keys(
    of row: [Value], _ index: IndexLayout, _ entity: EntityLayout, id: Int64 = 7
  ) throws -> [Key] {
    var bytes: [UInt8] = []
    entity.encode(row, into: &bytes)
    var keys: [[UInt8]] = []
    var writer = KeyWriter()
    try bytes.withUnsafeBytes { bytes in
      let view = try #require(entity.record.view(of: bytes))
      try index.eachKey(of: view, id: id, writer: &writer) { keys.append(Array($0)) }
    }
    return keys.map { Key(bytes: $0, isCut: isCut($0, index)) }
  }

  /// Returns true if a key was cut. It parses the key from the front in the documented format.
  static func isCut(_ key: [UInt8], _ index: IndexLayout) -> Bool {
    var rest = key[...]
    for part in index.parts {
      func take() -> UInt8 { (rest.popFirst() ?? 0) ^ (part.isDescending ? 0xff : 0) }
      if take() == KeyWriter.null { continue }
      switch part.kind {
      case .int64, .double, .date: rest = rest.dropFirst(8)
      case .bool: rest = rest.dropFirst(1)
      case .uuid: rest = rest.dropFirst(16)
      case .decimal:
        let sign = take()
        if sign == 1 { continue }
        rest = rest.dropFirst(2)
        while take() != (sign == 0 ? 0xff : 0) {}
      case .string, .url, .data, .strings:
        while true {
          if take() != 0 { continue }
          switch take() {
          case 1: break
          case 2: return true
          default: continue
          }
          break
        }
      }
    }
    return false
  }

  /// - Returns: `nil` if the keys agree up to a component that may have been cut.
  private static func order(
    _ a: [Value], _ b: [Value], _ index: IndexLayout, untilCut: Bool
  ) -> Ordering? {
    for part in index.parts {
      let (left, right) = (a[part.position], b[part.position])
      let order = NaiveCollation.order(left, right, part.collation?.collation ?? .binary)
      if untilCut, part.isText, !left.isNull, !right.isNull {
        let texts = [left.text.utf8.count, right.text.utf8.count]
        if order == .same || texts.min()! > 150 { return nil }
      }
      if order != .same { return part.isDescending ? order.reversed : order }
    }
    return .same
  }
}

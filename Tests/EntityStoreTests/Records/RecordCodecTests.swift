import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore

@Suite struct RecordCodecTests {
  @Test func everyRowReadsBackAsItWasWritten() async throws {
    try await withTemporaryStore(seed: 31) { temporary in
      var random = temporary.random
      let entity = try temporary.store.catalog().entity("Sample")
      for _ in 0..<1_500 {
        let row = random.row(of: entity.description.attributes)
        let back = try Self.read(Self.encoded(row, entity), entity)
        try #require(back == row, "seed \(random.seed)")
        // `==` on doubles takes −0.0 for 0.0 and on texts would take one spelling for another;
        // the bytes do not.
        try #require(Self.encoded(back, entity) == Self.encoded(row, entity), "seed \(random.seed)")
      }
    }
  }

  @Test func aChangedByteOfARecordIsFoundWhenItIsReadAsStored() async throws {
    try await withTemporaryFolder { folder in
      let store = try openStore(at: folder.path("store"))
      let id = try await store.write { try $0.insert("Sample", ["name": "sound"]).number }
      let entity = try store.catalog().entity("Sample")
      var bytes: [UInt8] = []
      try store.read { try $0.scanRows(of: entity) { _, record in bytes = Array(record) } }
      let place = try #require(bytes.firstRange(of: Array("sound".utf8))?.lowerBound)
      bytes[place] ^= 1
      try store.runAlone { transaction in
        try RecordKey.with(id) { key in
          try bytes.withUnsafeBytes { try transaction.put(entity.tree, key: key, value: $0) }
        }
      }
      try store.read { transaction in
        try transaction.forEachStored("Sample") { stored in
          #expect(code { _ = try stored.read() } == .damaged)
          return true
        }
      }
    }
  }

  @Test func everyNullPatternReadsBack() throws {
    let attributes = ValueKind.allCases.enumerated().map { number, kind in
      AttributeDescription(
        id: number + 1, name: kind.rawValue, type: Self.type(of: kind), isOptional: true)
    }
    let entity = Self.entity(attributes)
    var random = SeededRandom(seed: 32)
    for pattern in 0..<(1 << attributes.count) {
      let row = attributes.enumerated().map { number, attribute in
        pattern & (1 << number) == 0 ? random.value(attribute.type.kind) : .null
      }
      let bytes = RecordEncoder.encode(
        row, version: 1, shape: entity.layouts[0], positions: Self.positions(entity))
      let layout = RecordLayout(entity)
      let back = try bytes.withUnsafeBytes { try #require(layout.view(of: $0)).values() }
      try #require(back == row, "pattern \(pattern)")
    }
  }

  @Test func aRecordOfAnOlderLayoutReadsThroughTheNewerSchema() throws {
    var random = SeededRandom(seed: 33)
    var entity = Self.entity([
      AttributeDescription(id: 1, name: "a", type: .string),
      AttributeDescription(id: 2, name: "b", type: .int64, isOptional: true),
    ])
    var older: [(bytes: [UInt8], values: [Value])] = []
    var expected: [Value] = []
    for kind in ValueKind.allCases {
      let row =
        [Value.string(random.text()), random.oneIn(2) ? .null : .int64(random.int64())]
        + expected.map { random.oneIn(2) ? .null : random.value($0.kind ?? kind) }
      older.append(
        (
          RecordEncoder.encode(
            row.enumerated().map { $0 < 2 ? $1 : .null }, version: entity.layouts.count,
            shape: entity.layouts.last!, positions: Self.positions(entity)),
          Array(row.prefix(2))
        ))
      let fallback = random.oneIn(3) ? Value.null : random.value(kind)
      entity.attributes.append(
        AttributeDescription(
          id: entity.attributes.count + 1, name: kind.rawValue, type: Self.type(of: kind),
          isOptional: true, defaultValue: fallback))
      entity.layouts.append(
        RecordShape(slots: entity.attributes.map { .init(attributeID: $0.id, kind: $0.type.kind) }))
      expected.append(fallback)
    }
    let layout = RecordLayout(entity)
    for (version, record) in older.enumerated() {
      let values = try record.bytes.withUnsafeBytes { try #require(layout.view(of: $0)).values() }
      #expect(Array(values.prefix(2)) == record.values)
      // What the layout had was written as null; what it lacks reads as the default.
      let written = values.dropFirst(2).prefix(version)
      #expect(written.filter(\.isNull).count == version)
      #expect(Array(values.dropFirst(2 + version)) == Array(expected.dropFirst(version)))
    }
  }

  @Test func damagedBytesGiveAnErrorOrSomeValue() async throws {
    try await withTemporaryStore(seed: 34) { temporary in
      var random = temporary.random
      let entity = try temporary.store.catalog().entity("Sample")
      for _ in 0..<60 {
        let bytes = Self.encoded(random.row(of: entity.description.attributes), entity)
        for length in 0..<min(bytes.count, 200) { Self.readAll(Array(bytes[..<length]), entity) }
        for _ in 0..<40 {
          var damaged = bytes
          for _ in 0..<random.number(1...4) {
            damaged[random.number(0...damaged.count - 1)] ^= 1 << UInt8(random.number(0...7))
          }
          Self.readAll(damaged, entity)
        }
      }
    }
  }

  // MARK: Encoding and reading

  private static func encoded(_ row: [Value], _ entity: EntityLayout) -> [UInt8] {
    var bytes: [UInt8] = []
    entity.encode(row, into: &bytes)
    return bytes
  }

  private static func read(_ bytes: [UInt8], _ entity: EntityLayout) throws -> [Value] {
    try bytes.withUnsafeBytes { try #require(entity.record.view(of: $0)).values() }
  }

  /// Reads every value of a record, and writes all of its keys, without a trap. The bytes are at
  /// the end of their allocation, where a read out of bounds is likeliest to be detected.
  private static func readAll(_ bytes: [UInt8], _ entity: EntityLayout) {
    bytes.withUnsafeBytes { bytes in
      guard let view = entity.record.view(of: bytes) else { return }
      var writer = KeyWriter()
      for position in 0..<view.attributeCount {
        do { _ = try view.value(position) } catch { continue }
      }
      for index in entity.indexes {
        do { try index.eachKey(of: view, id: 1, writer: &writer) { _ in } } catch { continue }
      }
    }
  }

  private static func entity(_ attributes: [AttributeDescription]) -> EntityDescription {
    EntityDescription(
      id: 1, name: "E", attributes: attributes,
      layouts: [
        RecordShape(slots: attributes.map { .init(attributeID: $0.id, kind: $0.type.kind) })
      ])
  }

  static func positions(_ entity: EntityDescription) -> [Int: Int] {
    Dictionary(uniqueKeysWithValues: entity.attributes.enumerated().map { ($1.id, $0) })
  }

  static func type(of kind: ValueKind) -> AttributeType {
    switch kind {
    case .int64: .int64
    case .double: .double
    case .decimal: .decimal
    case .bool: .bool
    case .string: .string
    case .date: .date
    case .uuid: .uuid
    case .data: .data
    case .url: .url
    case .strings: .strings
    }
  }
}

extension RecordEncoder {
  /// Writes a record of any layout.
  ///
  /// - Parameter positions: The attribute positions by attribute id.
  static func encode(
    _ values: [Value], version: Int, shape: RecordShape, positions: [Int: Int]
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    encode(
      values, as: RecordPlan(shape, version: version, positions: positions), into: &bytes)
    return bytes
  }
}

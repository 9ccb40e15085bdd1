import EntityModel
import Foundation
import HomeFeed
import TestSupport
import Testing

@testable import EntityStore
@testable import FeedSync

/// The hash of an item's content is stored with it, so its bytes are frozen.
@Suite struct ContentHashTests {
  @Test func itIsTheHashOfTheValuesThatDifferFromTheDefaults() async throws {
    try await withSync { sync async throws in
      var random = SeededRandom(seed: testSeed(62))
      let entity = try sync.store.read { try $0.layout("Episode") }
      let attributes = entity.description.attributes
      for round in 0..<500 {
        var changes = RowChanges()
        var row = RowBuilder(entity)
        for position in attributes.indices where random.oneIn(2) {
          let attribute = attributes[position]
          let value: Value =
            switch random.number(0...3) {
            case 0: attribute.defaultValue
            case 1: .null
            default: random.value(attribute.type.kind)
            }
          changes.set(position, to: value)
          row.set(value, at: position)
        }
        let ignored = attributes.indices.filter { _ in random.oneIn(8) }
        let hash = try row.row().contentHash(of: row.marks, ignoring: ignored)
        #expect(try row.row().contentHash(ignoring: ignored) == hash)
        let bytes = attributes.indices.filter { !ignored.contains($0) }
          .flatMap { Self.bytes(of: changes[$0], attributes[$0]) }
        try #require(
          hash == bytes.withUnsafeBytes { ContentHash.of($0) },
          "seed \(random.seed), round \(round)")
      }
    }
  }

  @Test func minusZeroIsZeroAndAnIgnoredValueDoesNotCount() async throws {
    try await withSync { sync async throws in
      let entity = try sync.store.read { try $0.layout("Episode") }
      let progress = try entity.position(of: "progress")
      func hash(_ value: Value, ignoring ignored: [Int] = []) throws -> Int64 {
        var row = RowBuilder(entity)
        row.set(value, at: progress)
        return try row.row().contentHash(ignoring: ignored)
      }
      #expect(entity.description.attributes[progress].defaultValue == .double(0))
      #expect(try hash(.double(-0.0)) == hash(.double(0)))
      #expect(try hash(.double(0.5)) != hash(.double(0)))
      #expect(try hash(.double(0.5), ignoring: [progress]) == hash(.double(0)))
    }
  }

  @Test func theHashOfBytesIsXXH3() {
    #expect(ContentHash.of("mooring") == 598_545_049_989_796_319)
  }

  @Test func aURLThatIsTakenAsTextHasTheSameRecordAndHash() async throws {
    try await withSync { sync async throws in
      let entity = try sync.store.read { try $0.layout("Episode") }
      let position = try entity.position(of: "url")
      let text = "https://example.org/a?b=c"
      let url = Value.url(try #require(URL(string: text)))
      var row = RowBuilder(entity)
      Array(text.utf8).withUnsafeBytes { row.set($0, of: .url, at: position) }
      var rows = [row.row()]
      row.removeAll()
      row.set(url, at: position)
      rows.append(row.row())
      #expect(rows[0].value(position) == url)
      #expect(rows[0].values() == rows[1].values())
      #expect(try rows[0].contentHash() == rows[1].contentHash())
    }
  }

  /// Returns the bytes of a value as `RowCopy.contentHash` documents them.
  private static func bytes(of value: Value?, _ attribute: AttributeDescription) -> [UInt8] {
    guard let value, value != attribute.defaultValue else { return [] }
    func little<T: FixedWidthInteger>(_ number: T) -> [UInt8] {
      withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
    let stored: [UInt8]? =
      switch value {
      case .null: nil
      case .int64(let number): little(number)
      case .double(let number): little(number.bitPattern)
      case .date(let date): little(date.timeIntervalSinceReferenceDate.bitPattern)
      case .bool(let flag): [flag ? 1 : 0]
      case .string(let text): Array(text.utf8)
      case .url(let url): Array(url.absoluteString.utf8)
      case .data(let data): Array(data)
      case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { Array($0) }
      case .strings(let list): list.flatMap { little(UInt32($0.utf8.count)) + Array($0.utf8) }
      case .decimal: []
      }
    let size = stored.map { UInt32($0.count) } ?? .max
    return little(UInt32(attribute.id)) + little(size) + (stored ?? [])
  }
}

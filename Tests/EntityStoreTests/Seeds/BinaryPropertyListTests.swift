import Foundation
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

/// Binary property lists, against Foundation where they are sound.
@Suite struct BinaryPropertyListTests {
  private typealias Content = PropertyListNode.Content

  @Test func everyTypeOfObjectIsRead() throws {
    let expected: Content = .dictionary([
      "Dog": .array([
        .dictionary([
          "age": .int64(3), "n": .string("n"),
          "x": .array([
            .bool(false), .bool(true), .int64(-2), .double(1), .double(1.5),
            .date(Date(timeIntervalSinceReferenceDate: 536_870_912)), .data(Data([1, 2])),
            .string("\u{3042}"),
          ]),
        ])
      ])
    ])
    #expect(try PropertyListNode.parse(everyType, file: "a.plist").content == expected)
  }

  @Test(arguments: [UInt64(1), 2])
  func whatFoundationWritesIsReadBack(seed: UInt64) throws {
    var random = SeededRandom(seed: testSeed(seed))
    for round in 0..<300 {
      let value = value(&random, depth: 0)
      for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
        let data = try PropertyListSerialization.data(
          fromPropertyList: value.foundation, format: format, options: 0)
        let read = try PropertyListNode.parse(data, file: "a.plist").content
        #expect(read == value, "seed \(seed), round \(round)")
      }
    }
  }

  @Test(arguments: [UInt64(1), 2])
  func damagedListsAreReadOrRefused(seed: UInt64) throws {
    var random = SeededRandom(seed: testSeed(seed))
    var refused = 0
    for _ in 0..<5_000 {
      var data = everyType
      for _ in 0..<random.number(1...4) {
        data[random.number(0...data.count - 1)] = UInt8(random.number(0...255))
      }
      if random.oneIn(4) { data = data.prefix(random.number(0...data.count)) }
      // What is no longer binary by its first bytes is Foundation's.
      guard data.starts(with: Array("bplist00".utf8)) else { continue }
      do {
        _ = try PropertyListNode.parse(data, file: "a.plist")
      } catch {
        #expect((error as? StoreError)?.code == .seed)
        refused += 1
      }
    }
    #expect(refused > 1_000)
  }

  @Test(
    arguments: [
      ([[0xA2, 1, 1], [0xA0]], "stands in several places"), ([[0xA1, 0]], "several places"),
      ([[0xD1, 1, 1], [0x08]], "a key is not a string"),
      ([[0xD2, 1, 1, 2, 2], [0x51, 0x61], [0x08]], "stands twice"),
      ([[0xA1, 1], [0x80, 1]], "a kind that no attribute has"),
      ([[0xA1, 1], [0xC0]], "a kind that no attribute has"), ([[0xA1, 7]], "beyond its end"),
      ([[0xA1, 1], [0x14] + [UInt8](repeating: 1, count: 16)], "does not fit 64 bits"),
      ([[0xA1, 1], [0x51, 0xFF]], "no Unicode"), ([[0xA1, 1], [0x61, 0xD8, 0]], "no Unicode"),
      ([[0xAF, 0x51, 0x61]], "a size is not an integer"),
      ((0..<70).map { [0xA1, $0 + 1] } + [[0xA0]], "deeper than 64"),
      (
        [[0xAE] + [UInt8](1...14)]
          + [[UInt8]](repeating: [0x5E] + Array("abcdefghijklmn".utf8), count: 1),
        "beyond its end"
      ),
    ] as [([[UInt8]], String)])
  func whatNoProgramWritesIsRefused(_ objects: [[UInt8]], _ says: String) throws {
    let error = #expect(throws: StoreError.self) {
      try PropertyListNode.parse(list(objects), file: "a.plist")
    }
    #expect(error?.description.contains(says) == true, "\(String(describing: error))")
  }

  /// Each of the references of an array leads to the same long text, by an object of its own.
  @Test func partsThatOverlapAreRefused() throws {
    let text: [UInt8] = [0x5F, 0x10, 100] + [UInt8](repeating: 0x61, count: 100)
    let references = 20
    var bytes = Array("bplist00".utf8) + [0xAF, 0x10, UInt8(references)]
    bytes += (1...references).map { UInt8($0) }
    let place = UInt8(bytes.count)
    bytes += text
    let offsets = [8] + [UInt8](repeating: place, count: references)
    let data = Data(bytes + offsets + trailer(objects: references + 1, table: bytes.count))
    let error = #expect(throws: StoreError.self) {
      try PropertyListNode.parse(data, file: "a.plist")
    }
    #expect(error?.description.contains("overlap") == true)
  }

  // MARK: Lists

  /// `{Dog: [{age: 3, n: "n", x: [...]}]}`, where `x` has a value of every other type.
  private var everyType: Data {
    list([
      [0xD1, 1, 2], [0x53] + Array("Dog".utf8), [0xA1, 3], [0xD3, 4, 5, 6, 7, 5, 8],
      [0x53] + Array("age".utf8), [0x51] + Array("n".utf8), [0x51] + Array("x".utf8), [0x10, 3],
      [0xAF, 0x10, 8, 9, 10, 11, 12, 13, 14, 15, 16], [0x08], [0x09],
      [0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE], [0x22, 0x3F, 0x80, 0, 0],
      [0x23, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0], [0x33, 0x41, 0xC0, 0, 0, 0, 0, 0, 0],
      [0x42, 1, 2], [0x61, 0x30, 0x42],
    ])
  }

  /// A list of these objects, of which the first is the root.
  private func list(_ objects: [[UInt8]]) -> Data {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets.append(UInt8(bytes.count))
      bytes += object
    }
    return Data(bytes + offsets + trailer(objects: objects.count, table: bytes.count))
  }

  private func trailer(objects: Int, table: Int) -> [UInt8] {
    [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, UInt8(objects)]
      + [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, UInt8(table)]
  }

  private func value(_ random: inout SeededRandom, depth: Int) -> Content {
    switch random.number(0...(depth < 4 ? 9 : 6)) {
    case 0: return .bool(random.oneIn(2))
    case 1: return .int64(random.int64())
    case 2: return .double(Double(random.number(-99...99)) / 4 + 0.125)
    case 3: return .date(Date(timeIntervalSinceReferenceDate: Double(random.number(0...999_999))))
    case 4: return .data(Data(random.bytes(count: random.number(0...40))))
    case 5:
      return .string(random.pick(["", "plain", "日本語", "a😀", String(repeating: "x", count: 300)]))
    case 6: return .string("t\(random.number(0...9))")
    case 7: return .dictionary(["only": value(&random, depth: depth + 1)])
    case 8:
      return .dictionary(
        Dictionary(
          (0..<random.number(0...20)).map { ("k\($0)", value(&random, depth: depth + 1)) }
        ) { first, _ in first })
    default:
      return .array((0..<random.number(0...20)).map { _ in value(&random, depth: depth + 1) })
    }
  }
}

extension PropertyListNode.Content {
  fileprivate var foundation: Any {
    switch self {
    case .bool(let value): value
    case .int64(let value): value
    case .double(let value): value
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .array(let values): values.map(\.foundation)
    case .dictionary(let entries): entries.mapValues(\.foundation)
    case .reference(let number): number
    }
  }
}

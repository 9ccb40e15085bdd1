import EntityModel
import TestSupport
import Testing

@testable import EntityStore

/// The check of texts finds what the standard library finds.
@Suite struct CheckedTextTests {
  @Test func itFindsWhatTheStandardLibraryFinds() throws {
    var random = SeededRandom(seed: 5)
    for round in 0..<100_000 {
      let bytes = Self.bytes(using: &random)
      let found = bytes.withUnsafeBytes { CheckedText($0)?.isASCII }
      let isWellFormed = String(validating: bytes, as: UTF8.self) != nil
      try #require((found != nil) == isWellFormed, "seed 5, round \(round): \(bytes)")
      try #require((found == true) == bytes.allSatisfy { $0 < 0x80 }, "seed 5, round \(round)")
    }
  }

  @Test("Every pair of bytes, alone, at the end of a word and before continuations")
  func everyPair() throws {
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        for after in [[], [0x80], [0xBF, 0x80], [0xBF, 0xBF, 0x41]] as [[UInt8]] {
          for before in [[], [UInt8](repeating: 0x61, count: 6)] {
            let bytes = before + [first, second] + after
            let isWellFormed = String(validating: bytes, as: UTF8.self) != nil
            let found = bytes.withUnsafeBytes { CheckedText($0)?.isASCII }
            try #require((found != nil) == isWellFormed, "\(bytes)")
          }
        }
      }
    }
  }

  @Test("Texts that are checked together, damaged anywhere, are those that are checked alone")
  func together() throws {
    var random = SeededRandom(seed: 6)
    let attributes = (1...4).map {
      AttributeDescription(
        id: $0, name: "text\($0)", type: .string, isOptional: true, defaultValue: .null)
    }
    let slots = attributes.map { RecordShape.Slot(attributeID: $0.id, kind: .string) }
    let layout = RecordLayout(
      EntityDescription(
        id: 1, name: "E", attributes: attributes, layouts: [RecordShape(slots: slots)]))
    var checked = 0
    for round in 0..<20_000 {
      let row = attributes.map { _ -> Value in
        String(validating: Self.bytes(using: &random), as: UTF8.self).map { .string($0) } ?? .null
      }
      var bytes: [UInt8] = []
      RecordEncoder.encode(row, as: layout.plan, into: &bytes)
      for _ in 0..<round % 3 {
        bytes[Int.random(in: 2..<bytes.count, using: &random)] ^= 1 << UInt8(random.next() % 8)
      }
      try bytes.withUnsafeBytes { bytes in
        let alone = try #require(layout.view(of: bytes))
        var together = alone
        together.checkTexts()
        checked += together.hasCheckedTexts ? 1 : 0
        for position in attributes.indices {
          let expected = try? alone.value(position)
          let found = try? together.value(position)
          try #require(found == expected, "seed 6, round \(round), position \(position)")
        }
      }
    }
    #expect(checked > 5_000 && checked < 20_000)
  }

  /// Scalars of every length, most of them complete.
  private static func bytes(using random: inout SeededRandom) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 0...12, using: &random) {
      switch Int.random(in: 0...7, using: &random) {
      case 0: bytes += [UInt8](repeating: 0x61, count: Int.random(in: 1...20, using: &random))
      case 1...5:
        let limit: UInt32 = [0x80, 0x800, 0x10000, 0x110000].randomElement(using: &random) ?? 0x80
        let scalar = Unicode.Scalar(UInt32.random(in: 0..<limit, using: &random))
        bytes += Array(String(scalar.map(Character.init) ?? "?").utf8)
      case 6: bytes.append(UInt8.random(in: .min ... .max, using: &random))
      default: _ = bytes.popLast()
      }
    }
    return bytes
  }
}

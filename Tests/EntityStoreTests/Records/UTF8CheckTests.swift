import TestSupport
import Testing

@testable import EntityStore

/// The check of texts finds what the standard library finds.
@Suite struct UTF8CheckTests {
  @Test func itFindsWhatTheStandardLibraryFinds() throws {
    var random = SeededRandom(seed: 5)
    for round in 0..<100_000 {
      let bytes = Self.bytes(using: &random)
      let found = bytes.withUnsafeBytes { UTF8Check.check($0) }
      let isWellFormed = String(validating: bytes, as: UTF8.self) != nil
      try #require((found != .illFormed) == isWellFormed, "seed 5, round \(round): \(bytes)")
      try #require((found == .ascii) == bytes.allSatisfy { $0 < 0x80 }, "seed 5, round \(round)")
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
            let found = bytes.withUnsafeBytes { UTF8Check.check($0) }
            try #require((found != .illFormed) == isWellFormed, "\(bytes)")
          }
        }
      }
    }
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

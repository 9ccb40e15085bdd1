import Foundation
import TestSupport
import Testing

@testable import EntityStore

/// The order in which collected changes of an index are applied.
@Suite struct SortedKeysTests {
  @Test("Keys are sorted by their bytes, and equal ones keep their order", arguments: [1, 2, 3])
  func keysComeInTheOrderOfTheirBytes(seed: UInt64) throws {
    var random = SeededRandom(seed: testSeed(seed))
    for round in 0..<600 {
      let keys = Self.keys(&random)
      let expected = keys.indices.sorted { left, right in
        keys[left] == keys[right]
          ? left < right : keys[left].lexicographicallyPrecedes(keys[right])
      }
      // The bytes have to stay where they are while they are sorted.
      let buffers = keys.map { key in
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: key.count, alignment: 1)
        copy.copyBytes(from: key)
        return UnsafeRawBufferPointer(copy)
      }
      defer { for buffer in buffers { buffer.deallocate() } }
      let sorted = KeyOrder.sorted(Array(keys.indices).shuffled(using: &random)) { buffers[$0] }
      try #require(sorted == expected, "seed \(random.seed), round \(round)")
    }
  }

  /// Few different bytes after a beginning that all share, so that many keys are equal, or one the
  /// beginning of another.
  private static func keys(_ random: inout SeededRandom) -> [[UInt8]] {
    let shared = random.bytes(count: Int.random(in: 0..<12, using: &random))
    let letters: [UInt8] = [0, 1, 127, 128, 255]
    // Many keys are sorted byte by byte.
    let count = Int.random(in: 0..<(random.oneIn(20) ? 1_000 : 80), using: &random)
    return (0..<count).map { _ in
      shared
        + (0..<Int.random(in: 0..<14, using: &random)).map { _ in
          letters[Int.random(in: 0..<letters.count, using: &random)]
        }
    }
  }
}

import EntityModel
import Foundation
import TestSupport
import Testing

@testable import FeedSync

/// The stored form of the user's values is frozen: it stays the output of `JSONEncoder`.
@Suite struct ValueJSONTests {
  @Test(arguments: [1, 2, 3]) func valuesAreWrittenAsJSONEncoderWritesThem(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for round in 0..<2_000 {
      let said = LastServerValues(
        said: values(&random), waiting: random.oneIn(2) ? values(&random) : nil)
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      let bytes = try said.encoded()
      #expect(bytes == (try encoder.encode(said)), "seed \(seed), round \(round)")
      let read = try JSONDecoder().decode(LastServerValues.self, from: bytes)
      #expect(read == said, "seed \(seed), round \(round)")
    }
  }

  @Test(arguments: [Value.double(.infinity), .double(-.infinity), .double(.nan)])
  func numbersThatJSONDoesNotHaveAreRefused(value: Value) {
    #expect(throws: EncodingError.self) { try LastServerValues(said: ["a": value]).encoded() }
  }

  /// No two names differ only in case, which `sortedKeys` would order differently.
  private func values(_ random: inout SeededRandom) -> [String: Value] {
    let names = [
      "", "a/b", "favoriteAt", "progress", "q\"", "r\\", "t\u{7F}", "u\t", "watchedAt", "é",
    ]
    var values: [String: Value] = [:]
    for _ in 0..<random.number(0...4) {
      let kind = random.pick(ValueKind.allCases)
      let value = random.oneIn(8) ? .null : random.value(kind)
      if value.isFinite { values[random.pick(names)] = value }
    }
    return values
  }
}

extension Value {
  fileprivate var isFinite: Bool {
    switch self {
    case .double(let number): number.isFinite
    case .date(let date): date.timeIntervalSinceReferenceDate.isFinite
    default: true
    }
  }
}

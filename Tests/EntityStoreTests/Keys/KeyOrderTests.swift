import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore

/// Keys of one component: their bytes sort as the values do.
@Suite struct KeyOrderTests {
  static let room = StoreLimits.keyBytesMax - 8

  static func key(_ value: Value, descending: Bool = false, hashesCuts: Bool = false) -> [UInt8] {
    var writer = KeyWriter()
    writer.append(value, descending: descending, room: room, hashesCuts: hashesCuts)
    return Array(writer.bytes)
  }

  static func order(_ a: [UInt8], _ b: [UInt8]) -> Ordering {
    a == b ? .same : (a.lexicographicallyPrecedes(b) ? .ascending : .descending)
  }

  /// Returns true if a text is too long to stand in a key uncut.
  static func isLong(_ value: Value) -> Bool {
    switch value {
    case .string, .url, .data: key(value).count >= room - 3
    default: false
    }
  }

  @Test("Byte order equals value order, both ways, for every kind", arguments: ValueKind.allCases)
  func byteOrderEqualsValueOrder(kind: ValueKind) throws {
    guard kind != .strings else { return }  // a list has one key per element, a string
    let seed = testSeed(11)
    var random = SeededRandom(seed: seed)
    let values = [Value.null] + (0..<220).map { _ in random.value(kind) }
    for descending in [false, true] {
      let keys = values.map { Self.key($0, descending: descending) }
      for (i, a) in values.enumerated() {
        for (j, b) in values.enumerated() where j > i {
          let expected = try #require(a.compared(with: b))
          let found = Self.order(keys[i], keys[j])
          let wanted = descending ? expected.reversed : expected
          if found == .same, Self.isLong(a), Self.isLong(b) { continue }
          try #require(found == wanted, "seed \(seed): \(a) and \(b)")
        }
      }
    }
  }

  @Test func negativeZeroIsZero() {
    #expect(Self.key(.double(-0.0)) == Self.key(.double(0.0)))
    #expect(
      Self.key(.date(Date(timeIntervalSinceReferenceDate: -0.0)))
        == Self.key(.date(Date(timeIntervalSinceReferenceDate: 0))))
  }

  @Test func equalDecimalsHaveEqualBytes() throws {
    let spellings = ["1", "1.0", "1.000", "10e-1", "0.1e1"]
    let keys = try spellings.map { Self.key(.decimal(try #require(Decimal(string: $0)))) }
    #expect(Set(keys).count == 1)
    var unnormalized = Decimal(1000)
    unnormalized /= 10
    #expect(Self.key(.decimal(unnormalized)) == Self.key(.decimal(100)))
  }

  @Test func decimalsReadBackExactly() throws {
    let seed = testSeed(12)
    var random = SeededRandom(seed: seed)
    let extremes = [
      "340282366920938463463374607431768211455", "-340282366920938463463374607431768211455",
      "340282366920938463463374607431768211455e127", "1e-128", "12e-128", "123e-128", "1e127",
      "99999999999999999999999999999999999999e-128",
    ]
    let decimals =
      try extremes.map { try #require(Decimal(string: $0), "\($0)") }
      + (0..<2_000).map { _ in random.decimal() }
    for decimal in decimals {
      var bytes: [UInt8] = []
      DecimalBytes.append(decimal, to: &bytes)
      #expect(bytes.count <= DecimalBytes.countMax)
      let back = bytes.withUnsafeBytes { DecimalBytes.decode($0) }
      try #require(back == decimal, "seed \(seed): \(decimal)")
    }
  }

  @Test func textsAreCutAtTheSamePlaceWhenTheyAgreeSoFar() throws {
    let seed = testSeed(13)
    var random = SeededRandom(seed: seed)
    for hashesCuts in [false, true] {
      for _ in 0..<1_000 {
        let prefix = String(
          repeating: random.pick(["x", "é", "\0", "😀"]), count: random.number(380...510))
        let a = Self.key(.string(prefix + random.text()), hashesCuts: hashesCuts)
        let b = Self.key(.string(prefix + random.text()), hashesCuts: hashesCuts)
        let lengthMax = Self.room
        #expect(a.count <= lengthMax && b.count <= lengthMax, "seed \(seed)")
        let shared = zip(a, b).prefix { $0 == $1 }.count
        // Where neither text has ended yet, the keys can differ only in what the texts hold.
        #expect(shared >= min(prefix.utf8.count, lengthMax - 4 - 16), "seed \(seed)")
      }
    }
  }

  @Test func aCutTextSortsAfterItsPrefixesAndAfterSmallerTexts() {
    let long = String(repeating: "x", count: 600)
    #expect(
      Self.order(Self.key(.string(String(long.prefix(500)))), Self.key(.string(long))) == .ascending
    )
    #expect(Self.order(Self.key(.string(long + "a")), Self.key(.string(long + "b"))) == .same)
    let hashed = [long + "a", long + "b"].map { Self.key(.string($0), hashesCuts: true) }
    #expect(hashed[0] != hashed[1])
  }
}

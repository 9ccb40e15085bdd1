import EntityModel
import Foundation
import TestSupport
import Testing

@Suite struct FormatRoundTripTests {
  static let rounds = isThorough ? 20_000 : 3_000

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func everyTreePrintsAndReadsBack(usual: UInt64) throws {
    let seed = testSeed(usual)
    var random = SeededRandom(seed: seed)
    for round in 0..<Self.rounds {
      let tree = random.predicate(depth: 4)
      let text = tree.description
      let replay = "seed \(seed), round \(round): \(text)"
      do {
        let back = try FetchPredicate(format: text)
        try #require(back == tree, "\(replay)")
        // Zeros of both signs are equal, and so are spellings of one name: the bytes are not.
        try #require(Array(back.description.utf8) == Array(text.utf8), "\(replay)")
      } catch let error as PredicateFormatError {
        Issue.record("\(error.message) in \(replay)\n\(error.caret)")
        return
      }
    }
  }

  @Test(arguments: [5, 6] as [UInt64])
  func everyExpressionPrintsAndReadsBack(usual: UInt64) throws {
    let seed = testSeed(usual)
    var random = SeededRandom(seed: seed)
    for round in 0..<Self.rounds {
      let tree = random.expression(depth: 5)
      let replay = "seed \(seed), round \(round): \(tree)"
      let back = try FetchExpression(format: tree.description)
      try #require(back == tree, "\(replay)")
    }
  }

  static let formats = [
    "%K != nil AND progress != 0", "type == 1 && (title CONTAINS[cd] \"x\\u00e9\" or !a IN {1,-2})",
    "ANY episodes.progress > 0.5e3 OR NONE tags ==[c] 'x'", "ALL a.b <= $NAME",
    "ANY episodes SATISFIES (progress == 0 AND NOT type BETWEEN {0x1F, %d})",
    "sum(duration) + count:(*) * -2 ** a.@sum.b >= tags[SIZE] - SELF.#in", "AND(OR()) OR AND()",
    #"d == DATE "2026-11-21T04:00:00.5Z" AND e > DATE "-5.5e300s" OR f == DECIMAL "-9.99""#,
    #"u == UUID "6BA7B810-9DAD-11D1-80B4-00C04FD430C8" OR d == DATA "AAEC" OR l == URL "https://a/b""#,
    #"o == OBJECT "Episode/7" AND s == STRINGS {"a", "b"} AND i == DOUBLE "-inf" AND #"x y" == %@"#,
    "title LIKE '*%@*' AND title MATCHES \"a\\\\d\" AND \"\u{301}😀\" BEGINSWITH[ln] größe",
  ]

  static let fragments: [[UInt8]] =
    [
      "(", ")", "{", "}", "[", "]", ",", ".", ":", "#", "$", "@", "%", "%@", "%K", "%d", "\"", "'",
      "\\", "\\u", "\\ud83d", "-", "--", "**", "*", "+", "/", "==", "<", "!", "!=", "&&", "||", "&",
      " AND ", " OR ", " NOT ", " ANY ", " ALL ", " NONE ", " IN ", " SATISFIES ", " BETWEEN ",
      "[cd]", "[SIZE]", ".@count", ".@avg.", "sum(", "count(*)", "SELF", "SELF.", "nil", "TRUE",
      "TRUEPREDICATE", "AND(", "OR()", "DATE ", "UUID ", "DATA ", "URL ", "DECIMAL ", "OBJECT ",
      "STRINGS {", "DOUBLE ", "1", "0x", "1e", "9223372036854775808", "é", "😀", "\u{301}", "\0",
      "\u{a0}", "\n",
    ].map { Array($0.utf8) } + [[0xC3], [0xFF], [0x80], [0xED, 0xA0, 0x80]]

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func mutatedFormatsNeverCrashAndWhatReadsReadsBack(usual: UInt64) throws {
    let seed = testSeed(usual)
    var random = SeededRandom(seed: seed)
    let arguments: [(any PredicateArgument)?] = ["a.b", 1, nil]
    var accepted = 0
    for round in 0..<Self.rounds {
      let original = random.pick(Self.formats)
      let specifiers = original.contains("'*%@*'") ? 0 : original.count { $0 == "%" }
      var bytes = Array(original.utf8)
      for _ in 0..<random.number(1...3) { random.mutate(&bytes, with: Self.fragments) }
      let format = String(decoding: bytes, as: UTF8.self)
      let replay = "seed \(seed), round \(round): \(format)"
      do {
        let count = random.oneIn(4) ? random.number(0...3) : specifiers
        let tree = try FetchPredicate(format: format, arguments: Array(arguments[..<count]))
        accepted += 1
        try #require(try FetchPredicate(format: tree.description) == tree, "\(replay)")
      } catch let error as PredicateFormatError {
        try #require(error.format == format, "\(error.caret) in \(replay)")
        try #require((0...format.utf8.count).contains(error.offset), "\(replay)")
        try #require(error.caret.contains("^"), "\(replay)")
      }
    }
    // A test of mutations that all are refused would say little.
    #expect(accepted > Self.rounds / 50)
  }
}

extension SeededRandom {
  fileprivate mutating func mutate(_ bytes: inout [UInt8], with fragments: [[UInt8]]) {
    let place = number(0...bytes.count)
    let end = min(bytes.count, place + number(0...5))
    switch number(0...4) {
    case 0: bytes.removeSubrange(place..<end)
    case 1: bytes.insert(contentsOf: pick(fragments), at: place)
    case 2: bytes.replaceSubrange(place..<end, with: pick(fragments))
    case 3: bytes.insert(contentsOf: bytes[place..<end], at: number(0...bytes.count))
    default: if place < bytes.count { bytes[place] = UInt8(number(0...255)) }
    }
  }
}

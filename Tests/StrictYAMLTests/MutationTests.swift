import Foundation
import StrictYAML
import TestSupport
import Testing

/// Mutations of valid documents: whatever comes back, it is a tree or an error with a real place.
@Suite struct MutationTests {
  static let documents = [
    """
    line: homefeed
    id: 0002_sort_by_publication   # a comment
    parent: "0001_home_feed"
    steps:
      - createIndex: { on: Episode, name: byPublishedAt, keys: [publishedAt desc, slug] }
      - rename:
          entity: 'Learning''s Path'
          note: |
            several
              lines
          folded: >-
            folded
            text
    limits: {bytes: 1e3, "quoted \\u00e9": [~, null, true, -5, 010]}
    """,
    "{\"a\": [1, 2.5, {\"b\": \"\\\"x\\\" \\n\"}], \"c\": null, \"d\": {\"e\": [[], {}]}}",
    "- a\n- - b\n  - c: d\n    e: 'f'\n-\n  ? g\n  : h\n",
  ]

  /// The texts that a mutation inserts: everything that means something to YAML, and what breaks
  /// text.
  static let fragments: [[UInt8]] =
    [
      "\n", "\r\n", "\t", " ", "  ", ":", ": ", "- ", "? ", ",", "[", "]", "{", "}", "#", " #",
      "&a ",
      "*a", "!", "!!str ", "!<", "|", ">", "|2-", "'", "\"", "\\", "\\u", "%", "%YAML 1.1\n", "@",
      "`",
      "---\n", "...\n", "<<: ", "~", "null", "é", "😀", "\u{85}", "\u{2028}", "\u{FEFF}", "\0",
      "\u{7F}",
      "\\ud83d", "a: &a [*a]",
    ].map { Array($0.utf8) } + [[0xC3], [0xFF], [0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90]]

  static let rounds =
    ProcessInfo.processInfo.environment["MOORING_THOROUGH"] == "1" ? 25_000 : 2_500

  @Test(arguments: 1...4)
  func mutatedDocumentsNeverCrash(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var accepted = 0
    for round in 0..<Self.rounds {
      let bytes = Self.mutation(of: Self.documents.randomElement(using: &random)!, &random)
      let replay = "seed \(seed), round \(round): \(bytes)"
      do {
        let root = try YAMLDocument.parse(bytes: bytes, file: "f")
        try Self.readEverything(root)
        accepted += 1
        let again = try YAMLDocument.parse(
          String(root.canonical.dropFirst("yaml/1 ".count)), file: "f")
        #expect(again.canonical == root.canonical, "\(replay)")
      } catch {
        #expect(Self.isInside(error, bytes), "\(error) in \(replay)")
      }
    }
    // Both outcomes must be common, or the mutations prove nothing.
    #expect(
      (Self.rounds / 10...Self.rounds * 9 / 10).contains(accepted),
      "seed \(seed): \(accepted) accepted")
  }

  private static func mutation(of document: String, _ random: inout SeededRandom) -> [UInt8] {
    var bytes = Array(document.utf8)
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let place = Int.random(in: 0...bytes.count, using: &random)
      let end = min(bytes.count, place + Int.random(in: 1...12, using: &random))
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes.replaceSubrange(place..<end, with: [])
      case 1:
        bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...place, using: &random))
      case 2 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      default: bytes.insert(contentsOf: fragments.randomElement(using: &random)!, at: place)
      }
    }
    return bytes
  }

  /// Visits every node and reads it as every type; a wrong type must throw, never trap.
  private static func readEverything(_ node: YAMLNode) throws(YAMLError) {
    do { _ = try node.int() } catch { #expect(error.line == node.line) }
    do { _ = try node.double() } catch { #expect(error.line == node.line) }
    do { _ = try node.bool() } catch { #expect(error.line == node.line) }
    switch node.kind {
    case .scalar: _ = try node.string()
    case .sequence: for element in try node.sequence() { try readEverything(element) }
    case .mapping:
      var mapping = try node.mapping()
      for (key, _) in mapping.keys { try readEverything(try mapping.required(key)) }
      try mapping.finish()
    }
  }

  /// A place in the text, or the line after it, where a parser expects more input.
  private static func isInside(_ error: YAMLError, _ bytes: [UInt8]) -> Bool {
    let lines = bytes.filter { $0 == 0x0A || $0 == 0x0D }.count + 2
    return (1...lines).contains(error.line) && (1...bytes.count + 1).contains(error.column)
      && !error.summary.isEmpty
  }
}

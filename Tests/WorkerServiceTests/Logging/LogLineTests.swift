import Foundation
import Logging
import TestSupport
import Testing

@testable import WorkerService

@Suite struct LogLineTests {
  static let time = Date(timeIntervalSince1970: 1_795_266_000.123_4)

  private func record(
    _ message: String, _ metadata: Logger.Metadata = [:], level: Logger.Level = .info
  ) -> LogRecord {
    LogRecord(level: level, label: "mooring.worker", message: message, metadata: metadata)
  }

  @Test func aTextLineHasTimeLevelLabelMessageAndMetadata() {
    let line = record("synced", ["job": "12", "feed": "a b", "list": ["x", ["y"]], "empty": ""])
    #expect(
      line.text(at: Self.time)
        == "2026-11-21T13:00:00.123Z info     mooring.worker  synced "
        + #"empty="" feed="a b" job=12 list="[x, [y]]""#)
    #expect(line.journalText.hasPrefix("<6>info     mooring.worker  synced "))
  }

  @Test func prioritiesAreThoseOfSyslog() {
    let expected: [Logger.Level: Int] = [
      .trace: 7, .debug: 7, .info: 6, .notice: 5, .warning: 4, .error: 3, .critical: 2,
    ]
    for level in Logger.Level.allCases {
      let text = record("m", level: level).journalText
      #expect(text.hasPrefix("<\(expected[level] ?? -1)>\(level.rawValue) "))
    }
  }

  @Test func aTextLineStaysOneLineWithoutTerminalControl() {
    let line = record("a\nb\u{1B}[31m\u{85}\u{2028}", ["k\n=": "v\r\n\"", "w": "\u{9B}x"])
      .text(at: Self.time)
    #expect(line.hasSuffix(#"a\nb\u001b[31m\u0085\u2028 "k\n="="v\r\n\"" w="\u009bx""#))
  }

  @Test(arguments: [
    (0.0, "1970-01-01T00:00:00.000Z"), (-0.25, "1969-12-31T23:59:59.750Z"),
    (951_782_400.5, "2000-02-29T00:00:00.500Z"), (253_402_300_799.0, "9999-12-31T23:59:59.000Z"),
  ])
  func timesAreInUTCWithMilliseconds(_ seconds: Double, _ text: String) {
    #expect(LogRecord.timestamp(Date(timeIntervalSince1970: seconds)) == text)
  }

  @Test func theKeysOfAJSONLineAreInOrderAndMetadataCannotTakeThem() {
    let line = record("m", ["level": "mine", "a": ["x": "1"], "time": "t"]).json(at: Self.time)
    #expect(
      line == #"{"time":"2026-11-21T13:00:00.123Z","level":"info","message":"m","#
        + #""label":"mooring.worker","a":{"x":"1"},"metadata.level":"mine","metadata.time":"t"}"#)
  }

  /// Random texts, full of what breaks lines and strings, come back as they were.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func jsonLinesPreserveHostileTexts(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let alphabet: [Unicode.Scalar] =
      (0...0xA0).compactMap(Unicode.Scalar.init) + [
        "\u{2028}", "\u{2029}", "é", "\u{301}", "\u{FEFF}", "\u{FFFF}", "😀", "\u{10FFFF}", "\"",
        "\\",
      ]
    func text() -> String {
      var view = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0..<12, using: &random) {
        view.append(alphabet.randomElement(using: &random) ?? "x")
      }
      return String(view)
    }
    for round in 0..<500 {
      let (message, key, value, element) = (text(), "k" + text(), text(), text())
      let line = record(message, [key: .string(value), "list": [.string(element), ["in": "x"]]])
        .json(at: Self.time)
      let note: Comment = "seed \(seed), round \(round): \(line)"
      #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{2028}" }, note)
      let parsed = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      let object = try #require(parsed, note)
      #expect(same(object["message"] as? String, message), note)
      #expect(object["label"] as? String == "mooring.worker", note)
      #expect(object.contains { same($0.key, key) && same($0.value as? String, value) }, note)
      #expect(same((object["list"] as? [Any])?.first as? String, element), note)
    }
  }

  /// Swift takes texts as equal that differ in their encoding.
  private func same(_ left: String?, _ right: String) -> Bool {
    left.map { Array($0.unicodeScalars) } == Array(right.unicodeScalars)
  }

  @Test func aTextIsCutAtFourKibibytesBetweenCharacters() {
    for (bytes, kept) in [(4_096, 4_096), (4_097, 4_096), (9_000, 4_096)] {
      let line = record(String(repeating: "x", count: bytes)).text(at: Self.time)
      #expect(line.count { $0 == "x" } == kept)
      #expect(line.contains("…") == (bytes > kept))
    }
    let line = record("x" + String(repeating: "é", count: 4_096)).text(at: Self.time)
    #expect(line.count { $0 == "é" } == 2_047)
  }

  @Test func linesAreBounded() throws {
    let long = String(repeating: "é", count: 1_000_000)
    let many = (0..<1_000).map { Logger.Metadata.Value.string("\($0)") }
    var deep: Logger.Metadata.Value = "end"
    for _ in 0..<10_000 { deep = .array([deep]) }
    let wide = Logger.Metadata.Value.array(many.map { _ in .array(many) })
    let escapes = String(repeating: "\u{1}", count: 100_000)
    for (message, text) in [("m", long), (long, long), (escapes, escapes), ("m", escapes)] {
      let record = record(
        message, [text: .string(text), "wide": wide, "deep": deep, "a": .string(text)])
      #expect(record.text(at: Self.time).utf8.count < 48 * 1_024)
      let json = record.json(at: Self.time)
      #expect(json.utf8.count < 48 * 1_024)
      #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(json.utf8)) }
    }
  }
}

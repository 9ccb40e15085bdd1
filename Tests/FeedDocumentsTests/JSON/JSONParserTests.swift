import FeedTestSupport
import Foundation
import TestSupport
import Testing

@testable import FeedDocuments

@Suite struct JSONParserTests {
  /// Reads member `a` of the document as a scalar.
  private func scalar(_ value: String) throws(DocumentError) -> ScalarValue {
    try read("{\"a\": \(value) }") { ScalarValue($0) }
  }

  private func read<Value>(
    _ text: String, _ body: (JSONValue) throws(DocumentError) -> Value
  ) throws(DocumentError) -> Value {
    try read(Array(text.utf8), body)
  }

  private func read<Value>(
    _ bytes: [UInt8], _ body: (JSONValue) throws(DocumentError) -> Value
  ) throws(DocumentError) -> Value {
    let parser = try JSONParser()
    return try withPadding(bytes) { buffer throws(DocumentError) in
      try parser.withDocument(buffer) { document throws(DocumentError) in
        try document.withValue(of: document.members[0], body)
      }
    }
  }

  private func error(_ text: String) -> DocumentError? {
    do {
      _ = try read(text) { _ in true }
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    ("null", ScalarValue.null), ("true", .bool(true)), ("false", .bool(false)), ("0", .int64(0)),
    ("-0", .int64(0)), ("42", .int64(42)), ("-17", .int64(-17)),
    ("9007199254740993", .int64(9_007_199_254_740_993)),
    ("9223372036854775807", .int64(.max)), ("-9223372036854775808", .int64(.min)),
    ("9223372036854775808", .unrepresentable("9223372036854775808")),
    ("-9223372036854775809", .unrepresentable("-9223372036854775809")),
    ("18446744073709551616", .unrepresentable("18446744073709551616")),
    ("123456789012345678901234567890", .unrepresentable("123456789012345678901234567890")),
    ("1e400", .unrepresentable("1e400")), ("-1E+400", .unrepresentable("-1E+400")),
    ("0.5", .double(0.5)), ("1.0", .double(1)), ("-2.5e-3", .double(-0.0025)),
    ("1e2", .double(100)), ("5e-324", .double(.leastNonzeroMagnitude)),
    ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)),
    ("\"\"", .string("")), ("\"片头 📺\"", .string("片头 📺")),
    (#""\u7247\ud83d\ude00\n\t\\\/\"""#, .string("片😀\n\t\\/\"")),
    (#""a\u0000b""#, .string("a\0b")),
    ("[]", .strings([])), (#"["a","b"]"#, .strings(["a", "b"])),
    (#"["a", 1 ]"#, .unrepresentable(#"["a", 1 ]"#)), ("[null]", .unrepresentable("[null]")),
    (#"{"b":[1,{"c":2}]}"#, .unrepresentable(#"{"b":[1,{"c":2}]}"#)),
    ("{}", .unrepresentable("{}")),
  ])
  func readsValuesExactly(text: String, expected: ScalarValue) throws {
    #expect(try scalar(text) == expected)
  }

  @Test(arguments: [
    (#"\ud83d"#, "\u{FFFD}"), (#"ok \udc00x"#, "ok \u{FFFD}x"), (#"\ud800\u0041"#, "\u{FFFD}A"),
    (#"\ud83d\ud83d\ude00"#, "\u{FFFD}😀"), (#"\uDE00\uD83D"#, "\u{FFFD}\u{FFFD}"),
    (#"\ud83d\n\"\\\u00e9\u0007\u20ac片"#, "\u{FFFD}\n\"\\é\u{7}€片"),
  ])
  func halvesOfSurrogatePairsBecomeReplacementCharacters(text: String, expected: String) throws {
    #expect(try scalar("\"\(text)\"") == .string(expected))
    #expect(try read("{\"a\":{\"\(text)\":1}}") { $0.members.map(\.name.text) } == [expected])
  }

  @Test(arguments: [
    ("01", DocumentError.Code.invalidNumber), ("-", .invalidNumber), ("1.", .invalidNumber),
    ("1e", .invalidNumber), ("1e+", .invalidNumber), ("-a", .invalidNumber), ("1x", .invalidNumber),
    ("0x10", .invalidNumber), ("1\u{1}", .invalidNumber), (".5", .invalidLiteral),
    ("+1", .invalidLiteral), ("tru", .invalidLiteral), ("truex", .invalidLiteral),
    ("NaN", .invalidLiteral), ("Infinity", .invalidLiteral), ("nul", .invalidLiteral),
    ("'a'", .invalidLiteral), (#""\x""#, .invalidString), (#""\u12g4""#, .invalidString),
    (#""\ud800\x""#, .invalidString), (#""\ud800\u00""#, .invalidString),
  ])
  func refusesDamagedValuesWithTheirPlace(text: String, code: DocumentError.Code) {
    #expect(error("{\"a\": \(text) }") == DocumentError(code, at: "/a", offset: 6))
  }

  @Test(arguments: [
    ("", DocumentError.Code.empty), (" \n\t", .empty), ("[]", .notAnObject), ("1", .notAnObject),
    ("\"a\"", .notAnObject), ("{", .truncated), ("{\"a\":1", .truncated), ("{\"a\":\"", .truncated),
    ("{\"a\":1}}", .trailingContent), ("{\"a\":1} x", .trailingContent),
    ("{\"a\":1}{\"b\":2}", .trailingContent), ("{\"a\":1,}", .misplacedToken),
    ("{\"a\" 1}", .misplacedToken), ("{\"a\":1 \"b\":2}", .misplacedToken),
    ("{a:1}", .misplacedToken),
    ("{\"a\":[1,]}", .misplacedToken), ("{\"a\":[1 2]}", .misplacedToken),
    ("{\"a\":[1}]", .misplacedToken), ("{\"a\":{\"b\":[}]}", .misplacedToken),
    ("{\"a\":,\"b\":1}", .misplacedToken), ("{\"a\"}", .misplacedToken),
    ("{1:2}", .misplacedToken),
    ("{\"a\":[{\"b\" 1}]}", .misplacedToken), ("{\"a\":\"b\"c}", .misplacedToken),
    ("{\"a\":\"\u{1}\"}", .controlCharacter), ("{\"a\":\"line\nbreak\"}", .controlCharacter),
    (#"{"\x":1}"#, .invalidString),
  ])
  func refusesDamagedDocuments(text: String, code: DocumentError.Code) {
    #expect(error(text)?.code == code)
    #expect(error(text)?.location == "")
  }

  @Test func skipsAByteOrderMark() throws {
    #expect(try read("\u{FEFF}{\"a\":7}") { $0.int64 } == 7)
    let damaged = error("\u{FEFF}{\"a\":tru}")
    #expect(damaged?.offset == 8, "offsets count the mark")
  }

  @Test func countsTheLastOfRepeatedNames() throws {
    #expect(try read(#"{"a":{"x":1,"y":2,"x":3}}"#) { $0["x"]?.int64 } == 3)
    #expect(try read(#"{"a":{"x":1}}"#) { $0["xy"] == nil && $0[""] == nil })
  }

  @Test func walksContainersInDocumentOrder() throws {
    let text = #"{"a":[{"k":[1,[2,3]],"l":{}},[],"s",{"m":{"n":null}}]}"#
    let seen = try read(text) { array in
      array.elements.map { element in
        element.members.map { "\($0.name.text)=\($0.value.text)" } + ["\(element.count)"]
      }
    }
    #expect(seen == [["k=[1,[2,3]]", "l={}", "2"], ["0"], ["0"], ["m={\"n\":null}", "1"]])
  }

  @Test func readsOneElementAtATime() throws {
    let parser = try JSONParser()
    let text = Array(#"{"n":1,"list":[10, "\x", {"a":[1]}, 13],"e":[]}"#.utf8)
    let outcomes = try withPadding(text) { buffer throws(DocumentError) in
      try parser.withDocument(buffer) { document throws(DocumentError) in
        #expect(document.members.map(\.name) == ["n", "list", "e"])
        #expect(document.members.map(\.elementIndices.count) == [0, 4, 0])
        #expect(document.members.map { document.begins($0, with: "[") } == [false, true, true])
        return document.members[1].elementIndices.map { index in
          do throws(DocumentError) {
            return try document.withElement(index, of: document.members[1], \.text)
          } catch {
            return "\(error.code) \(error.location)"
          }
        }
      }
    }
    #expect(outcomes == ["10", "invalidString /list/1", #"{"a":[1]}"#, "13"])
  }

  @Test func limitsTheDepthOfAValueAndNotOfTheDocument() throws {
    let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    #expect(try read("{\"a\":\(deep)}") { $0.kind } == .array)
    #expect(error("{\"a\":[\(deep)]}")?.code == .tooDeep)
    let deepest =
      String(repeating: "[{\"a\":", count: 50_000) + "1" + String(repeating: "}]", count: 50_000)
    #expect(error("{\"a\":\(deepest)}")?.code == .tooDeep)
    #expect(error("{\"a\":\(deepest.dropLast())}")?.code == .misplacedToken)
    #expect(error(String(repeating: "{\"a\":", count: 100_000))?.code == .truncated)
    #expect(try read("{\"b\":1,\"a\":\(deepest)}") { $0.int64 } == 1)
  }

  @Test func escapesLocationsAsJSONPointersDo() {
    #expect(error(#"{"a/b~c":tru}"#)?.location == "/a~1b~0c")
  }

  @Test func findsWhichValueHasInvalidUTF8() throws {
    let bytes = Array(#"{"a":"ok","b":"x"#.utf8) + [0xC3] + Array(#"","c":"fine"}"#.utf8)
    let parser = try JSONParser()
    let codes = try withPadding(bytes) { buffer throws(DocumentError) in
      try parser.withDocument(buffer) { document in
        document.members.map { member -> DocumentError.Code? in
          do throws(DocumentError) {
            return try document.withValue(of: member) { _ in nil }
          } catch {
            return error.code
          }
        }
      }
    }
    #expect(codes == [nil, .invalidUTF8, nil])
  }

  @Test func servesManyDocumentsAfterEachOther() throws {
    let parser = try JSONParser()
    for length in [1, 5_000, 3, 70_000, 0, 1_000_000, 2] {
      let text = String(repeating: "é", count: length)
      let document = Array("{\"a\":\"\(text)\"}".utf8)
      let read = try withPadding(document) { buffer throws(DocumentError) in
        try parser.withDocument(buffer) { document throws(DocumentError) in
          try document.withValue(of: document.members[0], \.text)
        }
      }
      #expect(read == text)
    }
  }

  @Test func refusesAbsurdNumbersOfMembers() {
    let members = (0...4_096).map { "\"m\($0)\":0" }.joined(separator: ",")
    #expect(error("{\(members)}")?.code == .tooLarge)
  }

  @Test func agreesWithFoundationOnRandomValues() throws {
    let seed: UInt64 = 20_261_121
    var numbers = SeededRandom(seed: seed)
    for round in 0..<300 {
      let value = randomValue(depth: 4, &numbers)
      let data = try JSONSerialization.data(withJSONObject: ["a": value], options: [.sortedKeys])
      let again = try read(Array(data)) { canonical($0) }
      let object = try JSONSerialization.jsonObject(with: data)
      let expected = canonical(foundation: try #require((object as? [String: Any])?["a"]))
      #expect(again == expected, "seed \(seed), round \(round)")
    }
  }

  private func randomValue(depth: Int, _ numbers: inout SeededRandom) -> Any {
    switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &numbers) {
    case 0: return NSNull()
    case 1: return Bool.random(using: &numbers)
    case 2: return Int64.random(in: .min ... .max, using: &numbers)
    case 3: return Double.random(in: -1e9...1e9, using: &numbers)
    case 4:
      let alphabet = Array("aé片😀\"\\\n\u{1}/ 0")
      return String(
        (0..<Int.random(in: 0..<70, using: &numbers)).map { _ in
          alphabet.randomElement(using: &numbers) ?? "a"
        })
    case 5:
      return (0..<Int.random(in: 0..<5, using: &numbers)).map { _ in
        randomValue(depth: depth - 1, &numbers)
      }
    default:
      var object: [String: Any] = [:]
      for key in 0..<Int.random(in: 0..<5, using: &numbers) {
        object["k\(key)é"] = randomValue(depth: depth - 1, &numbers)
      }
      return object
    }
  }

  private func canonical(_ value: JSONValue) -> String {
    switch value.kind {
    case .array: "[" + value.elements.map(canonical).joined(separator: ",") + "]"
    case .object:
      "{" + value.members.map { "\($0.name.text):\(canonical($0.value))" }.joined(separator: ",")
        + "}"
    case .string: value.text.debugDescription
    case .double: "\(value.double ?? .nan)"
    default: value.text
    }
  }

  private func canonical(foundation value: Any) -> String {
    switch value {
    case is NSNull: return "null"
    case let string as String: return string.debugDescription
    case let array as [Any]:
      return "[" + array.map(canonical(foundation:)).joined(separator: ",") + "]"
    case let object as [String: Any]:
      return "{"
        + object.sorted { $0.key < $1.key }
        .map { "\($0.key):\(canonical(foundation: $0.value))" }.joined(separator: ",") + "}"
    case let number as NSNumber:
      if isBool(number) { return number.boolValue ? "true" : "false" }
      return number.doubleValue == number.doubleValue.rounded() && abs(number.doubleValue) > 1e9
        ? "\(number.int64Value)" : number.stringValue
    default: return "?"
    }
  }

  private func isBool(_ number: NSNumber) -> Bool {
    String(cString: number.objCType) == "c" && (number == 0 || number == 1)
  }
}

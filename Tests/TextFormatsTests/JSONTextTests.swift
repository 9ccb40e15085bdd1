import Foundation
import Testing
import TextFormats

@Suite struct JSONTextTests {
  /// Every character whose treatment differs, and their neighbors.
  private static let scalars =
    (Array(0x00...0xA0) + [0x061C, 0x180E] + Array(0x200A...0x2070)
    + [0xFEFF, 0xFFF9, 0x1F600, 0xE0067]).compactMap(Unicode.Scalar.init)

  @Test(arguments: [JSONLiteral.Escaping.required, .canonical, .stored, .hidden])
  func aStringReadsBackAsItWas(_ escaping: JSONLiteral.Escaping) throws {
    for scalar in Self.scalars {
      // Foundation loses a mark at the beginning.
      let text = "a" + String(Character(scalar)) + "é"
      let literal = JSONLiteral.quoted(text, escaping)
      let data = Data("[\(literal)]".utf8)
      #expect(try JSONDecoder().decode([String].self, from: data) == [text])
    }
  }

  @Test(arguments: [
    (JSONLiteral.Escaping.required, #""\"\\\n\t\u0001/"# + "\u{7F}\u{85}\u{2028}\""),
    (.canonical, #""\"\\\u000a\u0009\u0001/"# + "\u{7F}\u{85}\u{2028}\""),
    (.stored, #""\"\\\n\t\u0001/\u007f\u0085"# + "\u{2028}\""),
    (.hidden, #""\"\\\n\t\u0001/\u007f\u0085\u2028""#),
  ])
  func eachEscapingHasItsCharacters(_ escaping: JSONLiteral.Escaping, _ expected: String) {
    #expect(JSONLiteral.quoted("\"\\\n\t\u{1}/\u{7F}\u{85}\u{2028}", escaping) == expected)
  }

  @Test(arguments: [
    "", "plain", "é 😀", "\"", "\\", "a\"b\\c", "\n\r\t", "\u{0}\u{8}\u{1F}", "\r\n", "\u{2028}/",
    "e\u{301}",
  ])
  func textsOfSeveralCharactersReadBack(_ text: String) throws {
    let literal = JSONLiteral.quoted(text)
    let decoded = try JSONDecoder().decode([String].self, from: Data("[\(literal)]".utf8))
    #expect(decoded.count == 1 && Array(decoded[0].utf8) == Array(text.utf8), "\(literal)")
  }

  @Test(arguments: [0, -0.0, 0.1, 1e300, .leastNonzeroMagnitude, -1.5e-7, 9_007_199_254_740_992])
  func numbersReadBack(_ number: Double) throws {
    let literal = JSONLiteral.of(number)
    let decoded = try JSONDecoder().decode([Double].self, from: Data("[\(literal)]".utf8))
    #expect(decoded == [number])
  }

  @Test func numbersWithoutAJSONFormAreNull() {
    #expect(JSONLiteral.of(.infinity) == "null")
    #expect(JSONLiteral.of(.nan) == "null")
  }

  @Test func aTextWithoutQuotesKeepsThem() {
    #expect(JSONLiteral.escaped("a \"b\\\n\u{202E}", .unquotedHidden) == #"a "b\\n\u202e"#)
    #expect(JSONLiteral.escaped("plain", .hidden) == "plain")
  }

  @Test(arguments: [
    ("\u{202E}gpj.exe", #"\u202egpj.exe"#), ("a\u{61C}b", #"a\u061cb"#), ("\u{FEFF}", #"\ufeff"#),
    ("\u{200B}\u{200E}\u{2060}", #"\u200b\u200e\u2060"#), ("\u{2066}\u{2069}", #"\u2066\u2069"#),
    ("\u{2028}\u{2029}\u{85}", #"\u2028\u2029\u0085"#), ("\u{E0067}", #"\udb40\udc67"#),
    ("’–…é😀بц", "’–…é😀بц"),
  ])
  func hiddenCharactersAreEscapedByDefault(_ text: String, _ expected: String) {
    #expect(JSONLiteral.quoted(text) == "\"\(expected)\"")
  }

  @Test func everyHiddenCharacterIsFoundByItsFirstByte() {
    for scalar in (UInt32(0x20)...0x10FFFF).lazy.compactMap(Unicode.Scalar.init)
    where scalar.isHidden {
      #expect(JSONLiteral.escaped(String(scalar), .hidden).hasPrefix("\\u"), "\(scalar.value)")
    }
  }

  @Test func bytesAreEscapedAsCharactersAre() {
    for scalar in Self.scalars {
      var text = "a" + String(Character(scalar))
      var bytes: [UInt8] = []
      text.withUTF8 { bytes.appendJSONString(UnsafeRawBufferPointer($0)) }
      #expect(String(decoding: bytes, as: UTF8.self) == JSONLiteral.quoted(text, .required))
    }
  }

  @Test func theWriterSetsCommasAndLeavesOutNil() {
    var json = JSONWriter()
    json.object { json in
      json.string("a", "x\"y")
      json.string("none", nil)
      json.number("b", 1)
      json.number("none", nil)
      json.array("c") { json in
        json.string(nil, "1")
        json.object { _ in }
        json.bool(nil, true)
        json.literal(nil, "null")
      }
      json.append(Array("\"d\":2,\"e\":3".utf8))
      json.append([])
      json.string("f", utf8: [0x67])
    }
    let text = #"{"a":"x\"y","b":1,"c":["1",{},true,null],"d":2,"e":3,"f":"g"}"#
    #expect(String(decoding: json.bytes, as: UTF8.self) == text)
    json.truncate(to: 13)
    #expect(String(decoding: json.bytes, as: UTF8.self) == #"{"a":"x\"y",""#)
  }

  @Test func aNumberReadsBackAndNoneIsNull() {
    #expect(JSONLiteral.of(0.1) == "0.1")
    #expect(JSONLiteral.of(.infinity) == "null")
    #expect(JSONLiteral.object(["a", "b"], ["1", "null"]) == #"{"a":1,"b":null}"#)
  }

  @Test func aFieldOfCSVIsQuotedWhereItMustBe() {
    #expect(
      CSVRecord.text(["a", nil, "", "b,c", "d\"e", "f\n"], .exact)
        == "a,,\"\",\"b,c\",\"d\"\"e\",\"f\n\"\r\n")
  }

  @Test(arguments: [
    ("=1+1", "'=1+1"), ("+49 30 123", "'+49 30 123"), ("-2+3", "'-2+3"), ("@SUM(A1)", "'@SUM(A1)"),
    ("\t=1", "'\t=1"), ("\r=1", "\"'\r=1\""), ("\n=1", "\"'\n=1\""), ("\0=1", "'\u{FFFD}=1"),
    ("＝1", "'＝1"), ("=a,\"b\"", "\"'=a,\"\"b\"\"\""), ("-", "'-"), ("-inf", "'-inf"),
    ("-1-1", "'-1-1"),
    ("-5", "-5"), ("+0.25", "+0.25"), ("-1.5e-07", "-1.5e-07"), ("a=1", "a=1"), ("'=1", "'=1"),
    ("a\u{1B}[31mb\u{9B}\u{7F}", "a\u{FFFD}[31mb\u{FFFD}\u{FFFD}"), ("é😀\u{202E}", "é😀\u{202E}"),
  ])
  func aFieldForASpreadsheetIsNoFormula(_ field: String, _ expected: String) {
    #expect(CSVRecord.text([field], .spreadsheet) == expected + "\r\n")
    let exact = CSVRecord.text([field], .exact)
    #expect(exact.unicodeScalars.contains("'") == field.unicodeScalars.contains("'"))
  }
}

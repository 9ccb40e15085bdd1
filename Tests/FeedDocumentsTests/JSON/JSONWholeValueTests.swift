import FeedTestSupport
import Testing

@testable import FeedDocuments

/// `JSONParser.withValue`: complete documents with a root of any kind.
@Suite struct JSONWholeValueTests {
  private func read(_ bytes: [UInt8]) throws(DocumentError) -> String {
    try read(bytes, try JSONParser())
  }

  private func read(_ bytes: [UInt8], _ parser: JSONParser) throws(DocumentError) -> String {
    try withPadding(bytes) { buffer throws(DocumentError) in
      try parser.withValue(buffer) { canonical($0) }
    }
  }

  private func readError(_ bytes: [UInt8]) -> DocumentError? {
    do {
      _ = try read(bytes)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    ("1", "1"), (" -12.5e3\n", "-12.5e3"), ("true", "true"), ("null ", "null"),
    ("\"a\\u00e9\"", "\"aé\""),
    ("\"\"", "\"\""), ("[]", "[]"), ("{}", "{}"),
    ("[1,[2,{\"a\":null}],\"x\"]", "[1,[2,{\"a\":null}],\"x\"]"),
    ("{\"b\":1,\"a\":[{}]}", "{\"a\":[{}],\"b\":1}"), ("\u{FEFF}7", "7"),
    ("123456789012345678901234567890", "123456789012345678901234567890"),
  ])
  func readsRootsOfAnyKind(text: String, expected: String) throws {
    #expect(try read(Array(text.utf8)) == expected)
  }

  @Test(arguments: [
    ("", DocumentError.Code.empty, 0), (" \n", .empty, 0), ("[", .truncated, 1),
    ("\"a", .truncated, 2),
    ("1 2", .trailingContent, 2), ("[] x", .trailingContent, 3), ("{}}", .trailingContent, 2),
    ("[1,]", .misplacedToken, 3), ("]", .misplacedToken, 0), ("{\"a\":1,}", .misplacedToken, 7),
    (",", .misplacedToken, 0), ("01", .invalidNumber, 0), ("1x", .invalidNumber, 0),
    ("-", .invalidNumber, 0),
    ("1\0", .invalidNumber, 0), ("tru", .invalidLiteral, 0), ("nullx", .invalidLiteral, 0),
    ("x", .invalidLiteral, 0),
    ("[1,[tru]]", .invalidLiteral, 4), ("[\"\\x\"]", .invalidString, 1),
    ("{\"\\x\":1}", .invalidString, 1),
    ("[\"\u{1}\"]", .controlCharacter, 0), ("\u{FEFF}[1 2]", .misplacedToken, 6),
  ])
  func refusesDamagedTexts(text: String, code: DocumentError.Code, offset: Int) {
    let error = readError(Array(text.utf8))
    #expect(error?.code == code)
    #expect(error?.code == .empty || error?.code == .controlCharacter || error?.offset == offset)
  }

  @Test func refusesInvalidUTF8WhereverItIs() {
    for bytes in [[0x22, 0xC3, 0x22], [0x5B, 0x22, 0x61, 0x22, 0x5D, 0xFF], [0x74, 0xFF]]
      as [[UInt8]]
    {
      #expect(readError(bytes) != nil)
    }
    #expect(readError([0x22, 0xC3, 0x22])?.code == .invalidUTF8)
  }

  /// Only padding with arbitrary content follows a lone scalar.
  @Test(arguments: ["12", "-0.5", "true", "false", "null", "1e5"])
  func readsNothingBeyondALoneScalar(text: String) throws {
    let parser = try JSONParser()
    for filler in Array("0123456789.eE+-,]}x \0\"".utf8) {
      let bytes = Array(text.utf8) + Array(repeating: filler, count: JSONParser.padding)
      let read = try bytes.withUnsafeBytes { buffer in
        try parser.withValue(UnsafeRawBufferPointer(rebasing: buffer.prefix(text.utf8.count))) {
          "\($0.kind) \($0.text)"
        }
      }
      #expect(read.hasSuffix(" \(text)"))
    }
  }

  @Test func limitsTheDepth() throws {
    func nest(_ depth: Int) -> [UInt8] {
      Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    #expect(readError(nest(64)) == nil)
    #expect(readError(nest(65))?.code == .tooDeep)
    #expect(readError(nest(500_000))?.code == .tooDeep)
  }

  @Test func limitsTheNumberOfNodes() throws {
    func list(_ count: Int) -> [UInt8] {
      Array("[0\(String(repeating: ",0", count: count - 1))]".utf8)
    }
    let parser = try JSONParser()
    let most = Int(JSONParser.nodesMax) - 1
    let count = try withPadding(list(most)) { buffer throws(DocumentError) in
      try parser.withValue(buffer) { $0.count }
    }
    #expect(count == most)
    #expect(readError(list(most + 1))?.code == .tooLarge)
  }

  @Test func servesBothWaysOfReadingInTurn() throws {
    let parser = try JSONParser()
    for round in 0..<3 {
      #expect(try read(Array("[\(round)]".utf8), parser) == "[\(round)]")
      let member = try withPadding(Array("{\"a\":{\"b\":\(round)}}".utf8)) {
        buffer throws(DocumentError) in
        try parser.withDocument(buffer) { document throws(DocumentError) in
          try document.withValue(of: document.members[0]) { $0["b"]?.int64 }
        }
      }
      #expect(member == Int64(round))
      #expect(try read(Array("\(round)".utf8), parser) == "\(round)")
    }
  }
}

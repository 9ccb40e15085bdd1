import StrictYAML
import Testing

/// Everything the dialect refuses, each with the exact place and message.
@Suite struct RefusalTests {
  @Test(arguments: [
    ("a: 1\nb: 2\na: 3", "3:1: the key \"a\" is already there, at line 1; keep one"),
    ("x: {\"k\": 1, k: 2}", "1:13: the key \"k\" is already there, at line 1; keep one"),
    ("a: &b 1", "1:4: anchors (\"&\") are not supported; remove it"),
    ("a: !t &b 1", "1:4: tags (\"!\") are not supported; remove it"),
    ("&a k: 1", "1:1: anchors (\"&\") are not supported; remove it"),
    ("a: &b\n  c: 1", "1:4: anchors (\"&\") are not supported; remove it"),
    ("a: &b\n- 1", "1:4: anchors (\"&\") are not supported; remove it"),
    ("a: *b", "1:4: aliases (\"*\") are not supported; repeat the value"),
    ("*a : 1", "1:1: aliases (\"*\") are not supported; repeat the value"),
    ("é: 1\na: !!int \"5\"", "2:4: tags (\"!\") are not supported; remove it"),
    ("ü: {é: !x 5}", "1:8: tags (\"!\") are not supported; remove it"),
    ("a: ! 5", "1:4: tags (\"!\") are not supported; remove it"),
    ("a: !<tag:yaml.org,2002:str> x", "1:4: tags (\"!\") are not supported; remove it"),
    ("a: !e!x y", "1:4: tags (\"!\") are not supported; remove it"),
    ("- !x\n  - 1", "1:3: tags (\"!\") are not supported; remove it"),
    ("a:\n  <<: {b: 1}", "2:3: merge keys (\"<<\") are not supported; repeat the keys"),
    ("a: 1\n---\nb: 2", "2:1: a second document starts here; keep one document in a file"),
    ("%YAML 1.1\n---\na: 1", "1:1: directives (\"%\") are not supported; remove this line"),
    ("%TAG ! x:\n---\na: 1", "1:1: directives (\"%\") are not supported; remove this line"),
    ("? [a]\n: 1", "1:3: a key must be text, not a collection"),
    ("{{a: 1}: 2}", "1:2: a key must be text, not a collection"),
    ("null: 1", "1:1: a key must be text; quote it: \"null\""),
    ("~: 1", "1:1: a key must be text; quote it: \"~\""),
    ("?\n: 1", "1:2: a key is missing here; write it, or \"\""),
    ("a:\nb: 1", "1:3: a value is missing here; write it, or null, or \"\""),
    ("- a\n-\n- b", "2:2: a value is missing here; write it, or null, or \"\""),
    ("", "1:1: the document is empty; a mapping is expected"),
    ("# only this\n", "1:1: the document is empty; a mapping is expected"),
    ("\u{FEFF}", "1:1: the document is empty; a mapping is expected"),
    ("a:\n\tb: 1", "2:1: a tab stands in the indentation; use spaces"),
    (
      "a: 1\nb: \u{7}",
      "2:4: the control character U+0007 stands here; remove it or write \"\\u0007\""
    ),
    ("\r\n\r\n\0", "3:1: the control character U+0000 stands here; remove it or write \"\\u0000\""),
    ("é\u{85}", "1:2: the control character U+0085 stands here; remove it or write \"\\u0085\""),
    (
      "a: 'x\u{2028}y'",
      "1:6: the invisible line break U+2028 stands here; write \"\\u2028\" or remove it"
    ),
    ("a\u{FEFF}: 1", "1:2: a byte order mark stands inside the text; remove it"),
    ("a: \u{FFFE}", "1:4: U+FFFE is not a character; remove it"),
  ])
  func refusalsHaveTheirPlace(_ source: String, _ message: String) {
    let error = #expect(throws: YAMLError.self) { try YAMLDocument.parse(source, file: "f") }
    #expect(error?.description == "f:" + message)
  }

  @Test(arguments: [
    (
      "a: b: c",
      "1:5: a \":\" stands where no key can end; check the indentation, or quote the text"
    ),
    ("a: 1\nb\nc: 2", "2:1: a \":\" is missing after this key"),
    ("a: 'x\nb: 2\n", "1:4: the quoted text that starts here is not closed"),
    (
      "a: 1\n  b: 2",
      "2:4: a \":\" stands where no key can end; check the indentation, or quote the text"
    ),
    (
      "a:\n  - 1\n b: 2",
      "3:2: this does not fit into the mapping that starts at line 1, column 1; check the indentation"
    ),
    (
      "a:\n  - 1\n  b: 2",
      "3:3: this does not fit into the sequence that starts at line 2, column 3; check the indentation"
    ),
    ("a: [1, 2", "1:4: the sequence that starts here is not closed"),
    ("a: [1, 2}", "1:9: expected \",\" or \"]\" in the sequence that starts at line 1, column 4"),
    ("a: - b", "1:4: a \"-\" cannot stand here; start a new line for it, or quote it"),
    ("a: {b: 1]", "1:9: expected \",\" or \"}\" in the mapping that starts at line 1, column 4"),
    ("a: @b", "1:4: text cannot start with \"@\"; quote it"),
    (
      "a: \"\\q\"",
      "1:5: this escape is unknown; write \"\\\\\" for a backslash, or use single quotes"
    ),
  ])
  func malformedTextIsExplained(_ source: String, _ message: String) {
    let error = #expect(throws: YAMLError.self) { try YAMLDocument.parse(source, file: "f") }
    #expect(error?.description == "f:" + message)
  }

  @Test func bytesThatAreNotUTF8AreRefusedWhereTheyStart() {
    let bytes = Array("a: é\nb: ".utf8) + [0xC3, 0x28]
    let error = #expect(throws: YAMLError.self) { try YAMLDocument.parse(bytes: bytes, file: "f") }
    #expect(
      error?.description == "f:2:4: the text is not UTF-8 from here on; save the file as UTF-8")
  }

  @Test func sizeIsBounded() throws {
    let comment = "\n#" + String(repeating: "x", count: 4 * 1024 * 1024 - 6)
    #expect(try YAMLDocument.parse("a: 1" + comment, file: "f").kind == .mapping)
    let error = #expect(throws: YAMLError.self) {
      try YAMLDocument.parse("a: 10" + comment, file: "f")
    }
    #expect(error?.summary == "the document is longer than the limit of 4194304 bytes; split it")
  }

  @Test func aCutTextIsTooLongAndNotMalformed() {
    // A reader with the same bound stops within the last character.
    let bytes = Array("a: é".utf8.dropLast())
    let error = #expect(throws: YAMLError.self) {
      try YAMLDocument.parse(bytes: bytes, file: "f", bytesMax: 3)
    }
    #expect(error?.summary == "the document is longer than the limit of 3 bytes; split it")
  }

  @Test func nestingIsBounded() throws {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    #expect(try YAMLDocument.parse(nested(64), file: "f").kind == .sequence)
    for levels in [65, 900] {
      let error = #expect(throws: YAMLError.self) {
        try YAMLDocument.parse(nested(levels), file: "f")
      }
      #expect(
        error?.description == "f:1:65: collections are nested deeper than 64 levels; flatten them")
    }
    let error = #expect(throws: YAMLError.self) {
      try YAMLDocument.parse(nested(100_000), file: "f")
    }
    #expect(error?.summary == "collections are nested deeper than 64 levels; flatten them")
  }

  @Test(arguments: [
    "\u{FEFF}a: 1", "a: 1\r\n", "a: 1\r", "---\na: 1\n...\n", "'a': 1 # why", "{\"a\": 1}",
    "? a\n: 1",
    "{a: 1}", "a: 1", "{\n\t\"a\":1\n}",
  ])
  func otherSpellingsOfTheSameDocumentAreAccepted(_ source: String) throws {
    #expect(try YAMLDocument.parse(source, file: "f").canonical == "yaml/1 {\"a\":\"1\"}")
    #expect(
      try YAMLDocument.parse(bytes: Array(source.utf8), file: "f").canonical
        == "yaml/1 {\"a\":\"1\"}")
  }

  @Test(arguments: [
    "'<<': 1", "'null': 1", "'': 1", "1: x", "true: x", "a: '&b'", "a: b&c", "a: x!y",
  ])
  func quotedAndHarmlessTextIsAccepted(_ source: String) throws {
    #expect(try YAMLDocument.parse(source, file: "f").kind == .mapping)
  }
}

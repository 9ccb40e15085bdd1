import StrictYAML
import Testing

@Suite struct CanonicalFormTests {
  static let form =
    "yaml/1 {\"empty\":{},\"line\":\"home\\u000afeed\",\"none\":null,\"steps\":[\"1\",\"a \\\"b\\\"\",[]]}"

  @Test(arguments: [
    "line: \"home\\nfeed\"\nsteps:\n  - 1\n  - a \"b\"\n  - []\nnone: null\nempty: {}\n",
    "# Comment.\nnone:   ~ # why\nempty: {\n}\nsteps: [ '1', \"a \\\"b\\\"\", [] ]\n\nline: |-\n  home\n  feed\n",
    "line: |-\r\n  home\r\n  feed\r\nsteps:\r\n- 1\r\n- 'a \"b\"'\r\n- []\r\nnone: ~\r\nempty: {}\r\n",
    "{\"empty\": {}, \"none\": null, \"steps\": [\"1\", \"a \\\"b\\\"\", []], \"line\": \"home\\u000Afeed\"}",
    "\u{FEFF}---\n\"line\": 'home\n\n  feed'\n'steps': [\"\\x31\",a \"b\",[],]\nempty: {}\nnone: null\n...\n",
  ])
  func spellingLeavesNoTrace(_ source: String) throws {
    #expect(try canonical(source) == Self.form)
  }

  @Test func differentMeaningsHaveDifferentForms() throws {
    let sources = [
      "a: 1", "a: 2", "a: 01", "b: 1", "a: [1]", "a: {}", "a: []", "a: ''", "a: ' '", "a: null",
      "a: 'null'", "a: '~'", "a: [1, 2]", "a: [2, 1]", "a: [[1], 2]", "a: [[1, 2]]", "a: \"1,2\"",
      "a: 'x\\'", "a: '\"'", "a: {b: {c: d}}", "a: {b: c}", "[a, b]", "a: é", "a: e\u{301}",
    ]
    let forms = try sources.map(canonical)
    // By bytes: Swift's own equality would hide the difference between two encodings of é.
    #expect(Set(forms.map { Array($0.utf8) }).count == sources.count)
  }

  @Test func keysAreSortedByTheirBytes() throws {
    #expect(
      try canonical("{b: 1, B: 2, ä: 3, '': 4, b2: 5, 10: 6, 9: 7}")
        == "yaml/1 {\"\":\"4\",\"10\":\"6\",\"9\":\"7\",\"B\":\"2\",\"b\":\"1\",\"b2\":\"5\",\"ä\":\"3\"}"
    )
  }

  @Test func theFormIsItselfADocumentOfTheSameForm() throws {
    let form = try canonical("a: \"\\0\\x1f\\\\ \\\" / é 😀\"\nb: [~, {c: 'x'}]\n")
    #expect(form == "yaml/1 {\"a\":\"\\u0000\\u001f\\\\ \\\" / é 😀\",\"b\":[null,{\"c\":\"x\"}]}")
    #expect(try canonical(String(form.dropFirst("yaml/1 ".count))) == form)
  }

  private func canonical(_ source: String) throws -> String {
    try YAMLDocument.parse(source, file: "f").canonical
  }
}

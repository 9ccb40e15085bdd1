import Console
import Testing

@Suite struct TextTableTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한글", 4), ("ＡＢ", 4), ("ｱ", 1),
    ("😀", 2), ("👨‍👩‍👧", 2), ("🇩🇪", 2), ("❤️", 2), ("❤", 1), ("a\u{200B}b", 2), ("…", 1), ("ไทย", 3),
    ("\u{1112}\u{1161}\u{11AB}", 2), ("\u{202E}", 0), ("–", 1), ("𠀀", 2),
  ])
  func widthIsCountedInColumns(_ text: String, _ width: Int) {
    #expect(text.displayWidth == width)
  }

  @Test(arguments: [
    ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abcdef", 1, "…"), ("abcdef", 0, ""),
    ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("e\u{301}e\u{301}x", 2, "e\u{301}…"),
  ])
  func cuttingKeepsWholeCharacters(_ text: String, _ width: Int, _ cut: String) {
    #expect(text.truncated(toWidth: width) == cut)
  }

  @Test func columnsAlignByDisplayWidth() {
    var table = TextTable([.init("title"), .init("seconds", .number), .init("kind")])
    table.append(["日本語の道", "5", "walk"])
    table.append(["Café", "12,000", ""])
    #expect(
      table.text(width: nil) == """
        title       seconds  kind
        日本語の道        5  walk
        Café         12,000

        """)
  }

  @Test func onATerminalTheWidestTextIsCutAndNumbersAreNot() {
    var table = TextTable([.init("a"), .init("count", .number), .init("b")])
    table.append([
      String(repeating: "x", count: 50), "1234567890", String(repeating: "y", count: 12),
    ])
    let lines = table.text(width: 40).split(separator: "\n")
    #expect(lines.last == "xxxxxxxxxxxxx…  1234567890  yyyyyyyyyyyy")
    #expect(table.text(width: nil).contains(String(repeating: "x", count: 50)))
  }

  @Test func aWholeTextIsNotCut() {
    var table = TextTable([.init("url", .whole), .init("title")])
    let url = "https://example.org/" + String(repeating: "x", count: 30)
    table.append([url, String(repeating: "y", count: 30)])
    table.append(["a", "b"])
    let lines = table.text(width: 62).split(separator: "\n")
    #expect(lines[1] == url + "  yyyyyyyyy…")
    #expect(lines[2] == "a" + String(repeating: " ", count: 51) + "b")
  }

  @Test(arguments: [1, 20, 30, 31, 60])
  func aLineIsNoWiderThanTheTerminalUnlessColumnsAreAtTheirLeast(width: Int) {
    var table = TextTable([.init("first"), .init("n", .number), .init("second")])
    table.append([String(repeating: "日", count: 40), "42", String(repeating: "y", count: 40)])
    let least = 8 + 2 + 2 + 2 + 8
    for line in table.text(width: width).split(separator: "\n") {
      #expect(String(line).displayWidth <= max(width, least))
    }
  }

  @Test func controlCharactersOfAFeedAreReplaced() {
    var table = TextTable([.init("title")])
    table.append(["\u{1B}[31mred\u{7}\r\nnext\tline\u{202E}x\u{85}"])
    #expect(table.text(width: nil) == "title\n\u{FFFD}[31mred\u{FFFD} next line\u{FFFD}x\n")
  }

  @Test(arguments: [
    ("a\u{200E}b\u{61C}\u{2066}\u{FEFF}", "a\u{FFFD}b\u{FFFD}\u{FFFD}\u{FFFD}"),
    ("pay\u{200B}pal\u{200D}.com\u{2028}x", "pay\u{FFFD}pal\u{FFFD}.com x"),
    ("\u{200D}\u{200D}", "\u{FFFD}\u{FFFD}"), ("👨‍👩‍👧", "👨‍👩‍👧"),
    ("\u{645}\u{6CC}\u{200C}\u{62E}", "\u{645}\u{6CC}\u{200C}\u{62E}"),
    ("🏴\u{E0067}\u{E0062}\u{E007F}", "🏴\u{E0067}\u{E0062}\u{E007F}"),
    ("a\u{E0067}\u{E0062}", "a\u{FFFD}\u{FFFD}"),
  ])
  func hiddenCharactersAreReplacedAndJoinersStay(_ text: String, _ expected: String) {
    #expect(Array(text.singleLine.unicodeScalars) == Array(expected.unicodeScalars))
  }

  @Test func aTableWithoutRowsHasItsTitles() {
    let table = TextTable([.init("id", .number), .init("title")])
    #expect(table.isEmpty)
    #expect(table.text(width: 80) == "id  title\n")
  }
}

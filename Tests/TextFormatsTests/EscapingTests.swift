import Foundation
import Testing
import TextFormats

/// For Swift, a character that a combining mark follows is another character. Shells and databases
/// see the character and the mark.
@Suite struct EscapingTests {
  @Test(arguments: ["it's", "'\u{301}", "a'\u{301}; echo b '\u{308}", "$HOME \\ \"\u{301}", ""])
  func aShellReadsAWordAsItWas(text: String) throws {
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = ["-c", "printf %s \(text.shellWord)"]
    let output = Pipe()
    shell.standardOutput = output
    try shell.run()
    let read = try output.fileHandleForReading.readToEnd() ?? Data()
    shell.waitUntilExit()
    #expect(read == Data(text.utf8))
  }

  @Test func aMarkIsEscapedAlsoBeforeACombiningMark() {
    #expect(Array("a\"\u{301}\"".sqlName.utf8) == Array("\"a\"\"\u{301}\"\"\"".utf8))
    #expect(Array("~\u{301}/".escaping("~", as: "~0").utf8) == Array("~0\u{301}/".utf8))
  }
}

import ArgumentParser
import Console
import Foundation
import Testing

@Suite struct StandardOutputTests {
  @Test func fieldsAreQuotedWhereRFC4180AsksForIt() throws {
    let text = try written { output in
      try output.writeCSV(
        ["plain", "a,b", "say \"hi\"", "two\nlines", "cr\r", "", nil, " space "],
        as: .csv)
      try output.writeCSV(["é"], as: .csv)
    }
    #expect(
      text == "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\"cr\r\",\"\",, space \r\né\r\n")
  }

  @Test(arguments: [(OutputFormat.csv, "title\r\n'=1\r\n"), (.exactCSV, "title\r\n=1\r\n")])
  func aFormulaIsWrittenAsTheFormatSays(_ format: OutputFormat, _ expected: String) throws {
    let text = try written { output in
      try output.write(
        ["=1"], as: format, table: nil, titles: ["title"], fields: { [$0] })
    }
    #expect(text == expected)
  }

  @Test func documentsHaveNoHiddenCharacters() throws {
    #expect(try JSONText.of(["t": "\u{202E}\u{200B}\"\n/é"]) == #"{"t":"\u202e\u200b\"\n/é"}"#)
  }

  @Test func largeOutputArrivesComplete() throws {
    let line = String(repeating: "é", count: 500) + "\n"
    let text = try written { output in
      for _ in 0..<1_000 { try output.write(line) }
    }
    #expect(text == String(repeating: line, count: 1_000))
  }

  @Test func aClosedPipeEndsTheCommandQuietly() throws {
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    var rounds = 0
    let status = #expect(throws: ExitCode.self) {
      try StandardOutput.with(descriptor: pipe.fileHandleForWriting.fileDescriptor) { output in
        while true {
          rounds += 1
          try output.write(String(repeating: "x", count: 1_000))
        }
      }
    }
    #expect(status == .success)
    #expect(rounds < 1_000)
  }

  @Test func aFullDiskIsReported() throws {
    let device = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let error = #expect(throws: OutputError.self) {
      try StandardOutput.with(descriptor: device.fileDescriptor) { try $0.write("x") }
    }
    #expect(error?.systemError == ENOSPC)
    #expect(error?.description.hasPrefix("the output cannot be written: No space left") == true)
  }

  @Test func outputBeforeAnErrorIsWritten() throws {
    struct Failure: Error {}
    try withTemporaryFile { file in
      #expect(throws: Failure.self) {
        try StandardOutput.with(descriptor: file.handle.fileDescriptor) { output in
          try output.write("before")
          throw Failure()
        }
      }
      let text = try String(contentsOf: file.url, encoding: .utf8)
      #expect(text == "before")
    }
  }

  @Test func tablesGoToFilesUncut() throws {
    var table = TextTable([.init("title")])
    table.append([String(repeating: "x", count: 500)])
    let text = try written { try $0.write(table) }
    #expect(text == "title\n" + String(repeating: "x", count: 500) + "\n")
  }

  @Test func formatsAreNamedAsOnTheCommandLine() {
    #expect(
      OutputFormat.allCases.map(\.rawValue) == ["table", "json", "jsonl", "csv", "csv-exact"])
    #expect(OutputFormat(argument: "jsonl") == .jsonl)
    #expect(OutputFormat(argument: "xml") == nil)
  }

  private func written(_ body: (inout StandardOutput) throws -> Void) throws -> String {
    try withTemporaryFile { file in
      try StandardOutput.with(descriptor: file.handle.fileDescriptor, body)
      return try String(contentsOf: file.url, encoding: .utf8)
    }
  }

  private func withTemporaryFile<Result>(
    _ body: ((url: URL, handle: FileHandle)) throws -> Result
  ) throws -> Result {
    let url = FileManager.default.temporaryDirectory.appending(path: "mooring-\(UUID())")
    #expect(FileManager.default.createFile(atPath: url.path, contents: nil))
    defer {
      do { try FileManager.default.removeItem(at: url) } catch { Issue.record(error) }
    }
    return try body((url, FileHandle(forWritingTo: url)))
  }
}

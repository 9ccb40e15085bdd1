import Dispatch
import Foundation
import Glibc
import Logging
import TestSupport
import Testing

@testable import WorkerService

@Suite struct LogOutputTests {
  @Test func levelAndFormatChangeUnderLoggersThatExist() throws {
    let lines = try written { output in
      let logger = Logger(label: "a") { output.handler(label: $0) }
      var own = Logger(label: "b") { output.handler(label: $0) }
      own.logLevel = .trace
      logger.debug("no")
      own.debug("own")
      logger.info("one")
      output.change(level: .debug, format: .json)
      logger.debug("two")
      output.change(level: .error, format: .text)
      logger.warning("no")
      logger.error("three")
    }
    try #require(lines.count == 4)
    #expect(lines[0].hasSuffix("debug    b  own"))
    #expect(lines[1].hasSuffix("info     a  one"))
    #expect(lines[2].hasPrefix("{\"time\":") && lines[2].contains("\"message\":\"two\""))
    #expect(lines[3].hasSuffix("error    a  three"))
  }

  @Test func theNearestMetadataCounts() throws {
    struct Broken: Error, CustomStringConvertible { var description: String { "broken pipe" } }
    let lines = try written { output in
      var logger = Logger(label: "a") { label in
        var handler = output.handler(label: label)
        handler.metadataProvider = .init { ["job": "2", "queue": "q"] }
        return handler
      }
      logger[metadataKey: "job"] = "1"
      logger[metadataKey: "worker"] = "w"
      logger.info("m", metadata: ["queue": "sync"])
      logger.error("m", error: Broken())
    }
    try #require(lines.count == 2)
    #expect(lines[0].hasSuffix("m job=2 queue=sync worker=w"))
    #expect(lines[1].contains("error=\"broken pipe\""))
  }

  @Test func linesOfThreadsNeverMix() throws {
    let filling = String(repeating: "x", count: 3_000)
    let lines = try written { output in
      DispatchQueue.concurrentPerform(iterations: 8) { thread in
        let logger = Logger(label: "t") { output.handler(label: $0) }
        for line in 0..<200 { logger.info("begin \(thread) \(line) \(filling) end") }
      }
    }
    #expect(lines.count == 1_600)
    #expect(lines.allSatisfy { $0.contains("  begin ") && $0.hasSuffix("\(filling) end") })
    #expect(
      Set(lines.map { $0.split(separator: " ").dropFirst(3).prefix(3).joined() }).count == 1_600)
  }

  @Test func aClosedStreamIsNoFailure() {
    let output = LogOutput(descriptor: -1, level: .info, format: .text, environment: [:])
    Logger(label: "a") { output.handler(label: $0) }.info("nobody reads this")
  }

  @Test func theJournalIsRecognizedByItsStream() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("stream")
      let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(file) }
      var status = stat()
      fstat(file, &status)
      let stream = "\(status.st_dev):\(status.st_ino)"
      #expect(LogOutput.isJournal(file, ["JOURNAL_STREAM": stream]))
      #expect(!LogOutput.isJournal(file, ["JOURNAL_STREAM": "1:2"]))
      #expect(!LogOutput.isJournal(file, [:]))
      let output = LogOutput(
        descriptor: file, level: .info, format: .text, environment: ["JOURNAL_STREAM": stream])
      Logger(label: "a") { output.handler(label: $0) }.warning("m")
      let text = try String(contentsOfFile: path, encoding: .utf8)
      #expect(text == "<4>warning  a  m\n")
    }
  }

  /// The lines that `body` writes to an output at the level `info`, as text.
  private func written(_ body: (LogOutput) -> Void) throws -> [String] {
    try withTemporaryFolder { folder in
      let path = folder.path("log")
      let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
      defer { close(file) }
      body(LogOutput(descriptor: file, level: .info, format: .text, environment: [:]))
      let text = try String(contentsOfFile: path, encoding: .utf8)
      #expect(text.hasSuffix("\n"))
      return text.split(separator: "\n").map(String.init)
    }
  }
}

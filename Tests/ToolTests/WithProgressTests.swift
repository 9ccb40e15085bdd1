import Foundation
import Glibc
import TestSupport
import Testing

/// `Tools/with-progress`, without a terminal.
@Suite(.timeLimit(.minutes(5))) struct WithProgressTests {
  private static let script = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Tools/with-progress")

  @Test(arguments: [Int32(0), 3]) func progressAppearsBeforeTheEnd(status: Int32) throws {
    try withTemporaryFolder { folder in
      let gate = folder.path("gate")
      try #require(mkfifo(gate, 0o600) == 0)
      let process = SpawnedProcess()
      let (output, errors) = (Pipe(), Pipe())
      process.executableURL = Self.script
      process.arguments = [
        "0.01", "bash", "-c", "echo '[1/2] first'; read -r <'\(gate)'; echo second; exit \(status)",
      ]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = output
      process.standardError = errors
      try process.run()
      var text = ""
      while !text.contains("0 min: [1/2] first\n") {
        let part = output.fileHandleForReading.availableData
        try #require(!part.isEmpty, "it ended without progress: \(text)")
        text += String(decoding: part, as: UTF8.self)
      }
      try FileHandle(forWritingTo: URL(fileURLWithPath: gate)).write(contentsOf: Data("\n".utf8))
      let rest = output.fileHandleForReading.readDataToEndOfFile()
      let failure = errors.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      #expect(process.terminationStatus == status)
      #expect(
        String(decoding: failure, as: UTF8.self) == (status == 0 ? "" : "[1/2] first\nsecond\n"))
      #expect(status != 0 || String(decoding: rest, as: UTF8.self).hasSuffix("second\n"))
    }
  }
}

import Foundation
import Glibc
import Logging
import Metrics
import TestSupport
import Testing

@testable import WorkerService

@Suite struct MetricsTextfileTests {
  @Test func theFileIsReplacedAtomicallyAndReadableForAll() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("mooring.prom")
      try AtomicTextfile.write("old\n", to: path)
      let reader = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      try AtomicTextfile.write("new\n", to: path)
      // Who has the old one open reads it to its end.
      #expect(try reader.readToEnd() == Data("old\n".utf8))
      #expect(try contents(path) == "new\n")
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == 0o644)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    }
  }

  @Test func aFileThatCannotBeReplacedStaysAndNothingElse() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("folder.prom")
      try FileManager.default.createDirectory(
        atPath: path + "/in", withIntermediateDirectories: true)
      #expect(throws: AtomicTextfile.WriteError.self) { try AtomicTextfile.write("x", to: path) }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["folder.prom"])
      #expect(throws: AtomicTextfile.WriteError.self) {
        try AtomicTextfile.write("x", to: folder.path("none/x.prom"))
      }
      // What stands where the new file is made is not followed to elsewhere.
      let elsewhere = folder.path("elsewhere")
      try Data("kept".utf8).write(to: URL(fileURLWithPath: elsewhere))
      symlink(elsewhere, folder.path("x.prom.\(getpid()).tmp"))
      #expect(throws: AtomicTextfile.WriteError.self) {
        try AtomicTextfile.write("x", to: folder.path("x.prom"))
      }
      #expect(try contents(elsewhere) == "kept")
    }
  }

  @Test func aFullDiskLeavesTheOldFile() throws {
    try withTemporaryFolder { folder in
      guard let device = try folder.mountDevice(size: "64k") else { return }
      defer { unmountDevice(device) }
      let path = device + "/x.prom"
      try AtomicTextfile.write("old\n", to: path)
      let error = #expect(throws: AtomicTextfile.WriteError.self) {
        try AtomicTextfile.write(String(repeating: "x", count: 200_000), to: path)
      }
      #expect(error?.description.contains("No space left on device") == true)
      #expect(try contents(path) == "old\n")
      #expect(try FileManager.default.contentsOfDirectory(atPath: device) == ["x.prom"])
      // And when there is room again, it works again.
      try AtomicTextfile.write("new\n", to: path)
      #expect(try contents(path) == "new\n")
    }
  }

  @Test func aFailureIsOneWarningUntilItPasses() throws {
    try withTemporaryFolder { folder in
      let metrics = TextfileMetrics()
      let path = folder.path("later/mooring.prom")
      let settings = try LiveSettings {
        try WorkerSettings.load(flags: ["metricsFile": path], environment: [:])
      }
      let log = folder.path("log")
      let descriptor = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
      defer { close(descriptor) }
      let output = LogOutput(descriptor: descriptor, level: .info, format: .text, environment: [:])
      let textfile = MetricsTextfile(
        metrics, settings: settings, logger: Logger(label: "m") { output.handler(label: $0) })
      for _ in 0..<3 { textfile.write() }
      try #require(try lines(log).count == 1)
      #expect(try lines(log)[0].contains("No such file or directory"))
      try FileManager.default.createDirectory(
        atPath: folder.path("later"), withIntermediateDirectories: true)
      for _ in 0..<3 { textfile.write() }
      try #require(try lines(log).count == 2)
      #expect(try lines(log)[1].contains("metrics are written again"))
      #expect(throws: Never.self) { try PrometheusText(try contents(path)) }
    }
  }

  @Test func theServiceWritesAtOnceAndALastTimeAtItsEnd() async throws {
    try await withTemporaryFolder { folder in
      let metrics = TextfileMetrics()
      let path = folder.path("mooring.prom")
      let settings = try LiveSettings {
        try WorkerSettings.load(
          flags: ["metricsFile": path, "metricsEvery": "1h"], environment: [:])
      }
      let textfile = MetricsTextfile(
        metrics, settings: settings, logger: Logger(label: "m") { _ in SwiftLogNoOpLogHandler() })
      let run = Task { try await textfile.run() }
      while !FileManager.default.fileExists(atPath: path) { await Task.yield() }
      Counter(label: "late", factory: metrics).increment()
      run.cancel()
      try await run.value
      #expect(try PrometheusText(try contents(path)).value("mooring_late_total") == 1)
    }
  }

  private func contents(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  private func lines(_ path: String) throws -> [String] {
    try contents(path).split(separator: "\n").map(String.init)
  }
}

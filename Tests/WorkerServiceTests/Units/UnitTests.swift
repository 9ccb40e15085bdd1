import Foundation
import TestSupport
import Testing
import WorkerService

/// The units of `Tools/systemd`, checked by the systemd of this machine.
@Suite struct UnitTests {
  /// The highest permitted exposure by `systemd-analyze security`, in tenths: 1.1 of 10. The rest
  /// stems from a worker's access to the internet, systemd, the resolver and the system's files.
  static let exposureMax = 11

  static let services = ["mooring-worker.service", "mooring-sync.service"]
  static let analyzer = "/usr/bin/systemd-analyze"
  static let hasAnalyzer = FileManager.default.isExecutableFile(atPath: analyzer)

  @Test(
    .enabled(if: hasAnalyzer, "systemd-analyze is missing; install the package systemd"),
    arguments: services + ["mooring-sync.timer"])
  func systemdReportsNoProblems(_ unit: String) throws {
    try withUnits { folder in
      let run = try analyze("verify", "\(folder.path)/\(unit)")
      #expect(run.status == 0, "\(run.text)")
      #expect(!run.text.contains("mooring"), "\(run.text)")
    }
  }

  @Test(
    .enabled(if: hasAnalyzer, "systemd-analyze is missing; install the package systemd"),
    arguments: services)
  func theSandboxKeepsItsExposureLimit(_ unit: String) throws {
    try withUnits { folder in
      let path = "\(folder.path)/\(unit)"
      let run = try analyze("security", "--offline=yes", "--threshold=\(Self.exposureMax)", path)
      #expect(run.status == 0, "\(run.text)")
      // The check would see what is missing.
      let text = try String(contentsOfFile: path, encoding: .utf8)
      let open = text.replacing("CapabilityBoundingSet=\n", with: "")
      #expect(open != text)
      try Data(open.utf8).write(to: URL(fileURLWithPath: path))
      let opened = try analyze(
        "security", "--offline=yes", "--threshold=\(Self.exposureMax)", path)
      #expect(opened.status != 0)
    }
  }

  @Test func bothServicesHaveTheSameSandbox() throws {
    let sandboxes = try Self.services.map { unit in
      try lines(of: unit).drop { !$0.hasPrefix("# -- Sandbox") }.dropFirst()
        .prefix { $0 != "# -- End of the sandbox." }
    }
    #expect(sandboxes[0].count > 25)
    #expect(sandboxes[0] == sandboxes[1])
  }

  @Test func workerAndTimerExcludeEachOther() throws {
    let worker = try lines(of: "mooring-worker.service")
    #expect(worker.contains("Conflicts=mooring-sync.timer mooring-sync.service"))
    for unit in ["mooring-sync.timer", "mooring-sync.service"] {
      #expect(try lines(of: unit).contains("Conflicts=mooring-worker.service"))
    }
    for unit in Self.services + ["mooring-sync.timer"] {
      #expect(try lines(of: unit).contains { $0.hasPrefix("# One or the other:") })
    }
  }

  @Test func systemdWaitsLongerThanRunningJobsMayTake() throws {
    let line = try #require(
      try lines(of: "mooring-worker.service").first { $0.hasPrefix("TimeoutStopSec=") })
    let seconds = try #require(Int(line.dropFirst("TimeoutStopSec=".count)))
    #expect(.seconds(seconds) > WorkerSettings().drainTimeout * 2)
  }

  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Tools/systemd")

  private func lines(of unit: String) throws -> [String] {
    try String(contentsOf: Self.folder.appendingPathComponent(unit), encoding: .utf8)
      .split(separator: "\n").map(String.init)
  }

  /// Runs `body` with a copy of the units that runs the binary of this build.
  private func withUnits(_ body: (TemporaryFolder) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let binary = childExecutable(named: "mooring").path
      for unit in Self.services + ["mooring-sync.timer"] {
        let text = try String(
          contentsOf: Self.folder.appendingPathComponent(unit), encoding: .utf8)
        let copy = text.replacing("/usr/local/bin/mooring", with: binary)
        try Data(copy.utf8).write(to: URL(fileURLWithPath: folder.path(unit)))
      }
      try body(folder)
    }
  }

  private func analyze(_ arguments: String...) throws -> (status: Int32, text: String) {
    let process = SpawnedProcess()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: Self.analyzer)
    process.arguments = arguments
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let text = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: text, as: UTF8.self))
  }
}

import EntityModel
import Foundation
import Glibc
import TestSupport
import Testing

@testable import EntityStore

/// The device or the map fails during a migration: the error is reported, nothing is lost, and a
/// run without the fault resumes with the same result.
@Suite(.timeLimit(.minutes(30))) struct MigrationFaultTests {
  @Test(arguments: [MigrationScenario.retype, .quarantine, .destructive], [EIO, ENOSPC])
  func aFailingWriteIsReportedAndLosesNothing(scenario: MigrationScenario, number: Int32)
    async throws
  {
    let faults = isThorough ? 200 : 3
    let seed = testSeed(94) + UInt64(number)
    var random = SeededRandom(seed: seed)
    try await withTemporaryFolder { folder in
      guard let shim = try FaultShim(in: folder) else {
        print("there is no C compiler here: failing writes are not tested")
        return
      }
      let bench = try await MigrationBench(scenario, in: folder, seed: seed)
      let calls = try shim.count(bench)
      try #require(calls > 100)
      var struck = 0
      for round in 0..<faults {
        let path = try bench.copy("store \(round)")
        let call = random.number(1...calls)
        let environment = shim.environment(
          call: call, number: number, stays: random.oneIn(2), of: path)
        let run = bench.end(of: try bench.start(path, Self.settings, environment: environment))
        let note: Comment = "seed \(seed): call \(call) of \(calls): \(run.line)"
        try #require(!run.exit.wasSignal, note)
        if !run.line.hasPrefix("migrated") {
          struck += 1
          #expect(run.exit.status == 1, note)
          let code = number == EIO ? "inputOutput" : "diskFull"
          #expect(run.line.hasPrefix("failed \(code) "), note)
        }
        let store = try MigrationBench.open(path, scenario.sources)
        try requireClean(store)
        try requireWholePages(store)
        try bench.finish(path)
        try bench.requireAfter(path)
      }
      print("\(scenario): \(struck) of \(faults) faults in \(calls) calls were said, seed \(seed)")
      #expect(struck > 0)
    }
  }

  private static let settings = ["flush=1"]

  @Test func aFullDeviceIsReportedAndLosesNothing() async throws {
    try await withTemporaryFolder { folder in
      guard let device = try folder.mountDevice(size: "4m") else { return }
      defer { unmountDevice(device) }
      let bench = try await MigrationBench(.retype, in: folder, seed: 95)
      for pause in isThorough ? Array(1..<80) : [1, 40] {
        let path = try bench.copy("device/store \(pause)")
        let child = try bench.start(path, ["pause=\(pause)"])
        for _ in 0..<pause { try #require(child.readLine() != nil) }
        let ballast = device + "/ballast"
        try Self.fill(ballast)
        try child.writeLine("go on")
        let (line, exit) = bench.end(of: child)
        #expect(exit.status == 1)
        #expect(line.hasPrefix("failed diskFull "), "\(line)")
        let store = try MigrationBench.open(path, bench.scenario.sources)
        try requireClean(store)
        try requireWholePages(store)
        // Before it does anything it looks at the room that there is.
        let again = bench.end(of: try bench.start(path))
        #expect(again.line.hasPrefix("failed diskFull "), "\(again.line)")
        try FileManager.default.removeItem(atPath: ballast)
        try bench.finish(path)
        try bench.requireAfter(path)
        try FileManager.default.removeItem(atPath: path)
      }
    }
  }

  /// Writes until the device is full.
  private static func fill(_ path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let bytes = [UInt8](repeating: 1, count: 4_096)
    while write(descriptor, bytes, bytes.count) == bytes.count {}
    try #require(errno == ENOSPC)
  }

  @Test func aFullMapIsReportedAndLosesNothing() async throws {
    try await withTemporaryFolder { folder in
      let bench = try await MigrationBench(.retype, in: folder, seed: 96)
      let path = try bench.copy("store")
      let map = "map=\(3 << 20)"
      let child = try bench.start(path, [map, "pause=10"])
      for _ in 0..<10 { try #require(child.readLine() != nil) }
      let filler = try ChildProcess(MigrationBench.executable, ["migration-fill", path, map])
      #expect(filler.readLine() == "full")
      #expect(filler.waitForExit().status == 0)
      try child.writeLine("go on")
      let (line, exit) = bench.end(of: child)
      #expect(exit.status == 1)
      #expect(line.hasPrefix("failed mapFull "), "\(line)")
      // With less room than it takes, another run says so before it does anything.
      let again = bench.end(of: try bench.start(path, [map]))
      #expect(again.line.hasPrefix("failed mapFull "), "\(again.line)")
      let store = try MigrationBench.open(path, bench.scenario.sources)
      try requireClean(store)
      try requireWholePages(store)
      let emptier = try ChildProcess(MigrationBench.executable, ["migration-empty", path])
      #expect(emptier.readLine() == "empty")
      #expect(emptier.waitForExit().status == 0)
      try bench.finish(path)
      try bench.requireAfter(path)
    }
  }
}

extension FaultShim {
  /// The number of calls in an uninterrupted run.
  func count(_ bench: MigrationBench) throws -> Int {
    let path = try bench.copy("counted")
    var environment = environment(call: 0, number: 0, stays: false, of: path)
    environment["MOORING_FAULT_COUNT"] = counted
    let run = bench.end(of: try bench.start(path, ["flush=1"], environment: environment))
    try #require(run.line.hasPrefix("migrated"), "\(run.line)")
    let text = try String(contentsOfFile: counted, encoding: .utf8)
    return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
  }
}

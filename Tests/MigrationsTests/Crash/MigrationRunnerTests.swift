import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Two processes that would migrate one store.
@Suite(.timeLimit(.minutes(10))) struct MigrationRunnerTests {
  @Test func theErrorOfASecondRunnerNamesTheFirst() async throws {
    try await withTemporaryFolder { folder in
      let bench = try await MigrationBench(.series, in: folder, seed: 97)
      let path = try bench.copy("store")
      let first = try Self.startAndPause(bench, path)
      let (line, exit) = bench.end(of: try bench.start(path))
      #expect(exit.status == 1)
      #expect(line.hasPrefix("failed busy "), "\(line)")
      #expect(line.contains("process \(first.pid), "), "\(line)")
      #expect(line.contains("migration-run \(path)"), "\(line)")
      #expect(MigrationLock.holder(in: path)?.contains("process \(first.pid), ") ?? false)
      try first.writeLine("go on")
      #expect(bench.end(of: first).line == "migrated 0001_more 0002_more")
      #expect(MigrationLock.holder(in: path) == nil)
      try bench.requireAfter(path)
    }
  }

  @Test func aRunnerThatWaitsFindsNothingLeftToDo() async throws {
    try await withTemporaryFolder { folder in
      let bench = try await MigrationBench(.series, in: folder, seed: 98)
      let path = try bench.copy("store")
      let first = try Self.startAndPause(bench, path)
      let second = try bench.start(path, ["wait=300"])
      try first.writeLine("go on")
      #expect(bench.end(of: first).line == "migrated 0001_more 0002_more")
      #expect(bench.end(of: second).line == "migrated ")
      try bench.requireAfter(path)
    }
  }

  @Test func aRunnerThatWaitsResumesWhereAKilledOneStopped() async throws {
    try await withTemporaryFolder { folder in
      let bench = try await MigrationBench(.series, in: folder, seed: 99)
      let path = try bench.copy("store")
      let first = try Self.startAndPause(bench, path)
      let second = try bench.start(path, ["wait=300"])
      first.kill()
      #expect(bench.end(of: second).line == "migrated 0001_more 0002_more")
      try bench.requireAfter(path)
    }
  }

  private static func startAndPause(
    _ bench: MigrationBench, _ path: String
  ) throws -> ChildProcess {
    let child = try bench.start(path, ["pause=20"])
    for _ in 0..<20 { try #require(child.readLine() != nil) }
    return child
  }
}

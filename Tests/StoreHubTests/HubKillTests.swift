import EntityModel
import EntityStore
import Foundation
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import StoreHub

/// Processes of two machines that write to one hub and are killed at any moment.
@Suite(
  .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"),
  .timeLimit(.minutes(30)))
struct HubKillTests {
  @Test func whatWasAcknowledgedIsInTheLogOnce() async throws {
    try await killWriters(rounds: isThorough ? 1_000 : 12, seed: testSeed(1))
  }
}

private func killWriters(rounds: Int, seed: UInt64) async throws {
  var random = SeededRandom(seed: seed)
  print("kills of hub writers: seed \(seed)")
  try await withHub { hub in
    try await hub.create()
    _ = try hub.join("second")
    let machines = ["first", "second"]
    var acknowledged: Set<String> = []
    for round in 0..<rounds {
      let writers = try machines.map { machine in
        try ChildProcess(
          childExecutable(named: "store-child"),
          ["hub-write", hub.folder.path(machine), "name=\(machine) \(round)"],
          environment: hub.environment)
      }
      for writer in writers {
        let greeting = writer.readLine()
        try #require(greeting == "begins", "\(greeting ?? writer.readErrors())")
      }
      // The other one has its turns while the killed one has lost its own.
      let victim = Int.random(in: 0..<2, using: &random)
      for _ in 0..<Int.random(in: 0..<4, using: &random) {
        if let line = writers[victim].readLine() { acknowledged.insert(line) }
      }
      usleep(UInt32.random(in: 0..<6_000, using: &random))
      writers[victim].kill()
      let survivor = writers[1 - victim]
      for _ in 0..<3 {
        if let line = survivor.readLine() { acknowledged.insert(line) }
      }
      survivor.kill()
      for writer in writers {
        while let line = writer.readLine() { acknowledged.insert(line) }
      }
    }
    let (first, second) = (try hub.open("first"), try hub.open("second"))
    try requireEqual(first, second)
    let stored = try names(of: first)
    #expect(Set(stored).count == stored.count, "a write is there twice")
    #expect(acknowledged.subtracting(stored) == [])
    #expect(acknowledged.count >= 4 * rounds)
    #expect(try first.digest()?.digest == second.digest()?.digest)
  }
}

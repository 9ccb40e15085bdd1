import ArgumentParser
import Foundation

/// From the first request to the last flush.
struct SyncBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "The whole job: a feed of a home page over HTTP into a store that was empty.")

  @Option(help: "Episodes of the feed.") var rows = 100_000
  @Option(help: "Rounds; the median is shown.") var rounds = 3
  @Flag(help: "A smoke run: 3,000 episodes, one round. It judges nothing.") var quick = false
  @Option(help: "The seed of the data set.") var seed: UInt64 = 42
  @Option(
    parsing: .upToNextOption, help: "Candidates to run, of \(CandidateName.list).")
  var candidates: [CandidateName] = CandidateName.syncing
  @Option(help: "Where the temporary folder is made (default: the system's).") var dir: String?
  @Flag(help: "Print JSON instead of a table.") var json = false

  func validate() throws {
    guard (1_000...2_000_000).contains(rows) else {
      throw ValidationError("--rows must be from 1000 to 2000000")
    }
    guard rounds > 0 else { throw ValidationError("--rounds must be positive") }
  }

  func run() throws {
    do {
      let results = try blocking { try await measure() }
      print(json ? try [results].json() : results.table())
    } catch let error as BenchError {
      FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
      throw ExitCode(error.code.rawValue)
    }
  }

  private func measure() async throws -> Results {
    let rows = quick ? 3_000 : rows
    let parent = dir.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
    let scratch = try ScratchFolder(in: parent, needing: rows * 1_500 * candidates.count)
    defer { scratch.remove() }
    let server = try FeedServerProcess(rows: rows, rowsPerPage: 1_000, seed: seed)
    let workload = try Workload(rows: rows, seed: seed)
    let rounds = SyncRounds(
      candidates: try chosen.map { try $0.makeSync() },
      episodes: workload.rows(0..<rows).episodes.map(\.inWholeSeconds), feed: server.url,
      rounds: quick ? 1 : rounds, polls: quick ? 3 : 20, scratch: scratch)
    let measurements = try await rounds.run()
    try server.stop()
    return Results(
      rows: rows, seed: seed, plan: Plan(rounds: rounds.rounds, loadRounds: rounds.rounds),
      candidates: chosen, measurements: measurements)
  }

  /// Mooring first, whatever the order in which they were named.
  private var chosen: [CandidateName] { CandidateName.syncing.filter(candidates.contains) }
}

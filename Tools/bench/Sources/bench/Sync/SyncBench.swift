import ArgumentParser
import Foundation

/// Measures syncs of a feed over HTTP, from the first request to the last flush.
struct SyncBench: BenchPart {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Measures the whole job: a sync of a feed over HTTP into an empty store.")

  @Option(help: "Episodes of the feed.") var rows = 100_000
  @Option(help: "Rounds; the median is shown.") var rounds = 3
  @Option(help: "The seed of the data set.") var seed: UInt64 = 42
  @Option(
    parsing: .upToNextOption,
    help: "Candidates to run, of \(CandidateName.list) (default: all except grdb-cached).")
  var candidates: [CandidateName] = CandidateName.usual
  @OptionGroup var setting: SettingOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (1_000...2_000_000).contains(rows) else {
      throw ValidationError("--rows must be from 1000 to 2000000")
    }
    guard rounds > 0 else { throw ValidationError("--rounds must be positive") }
    guard !candidates.isEmpty else { throw ValidationError("--candidates names none") }
  }

  func measure() async throws -> [Section] {
    let rows = setting.quick ? 3_000 : rows
    let scratch = try setting.scratch(needing: rows * 1_500 * candidates.count)
    defer { scratch.remove() }
    let server = try FeedServerProcess(rows: rows, rowsPerPage: 1_000, seed: seed)
    let workload = try Workload(rows: rows, seed: seed)
    let rounds = SyncRounds(
      candidates: try chosen.map { try $0.makeSync() },
      episodes: workload.rows(0..<rows).episodes.map(\.inWholeSeconds), feed: server.url,
      rounds: setting.quick ? 1 : rounds, polls: setting.quick ? 3 : 20, scratch: scratch)
    let measurements = try await rounds.run()
    try server.stop()
    let scope = "\(counted(rows, "episodes")) over HTTP, \(counted(rounds.rounds, "rounds"))"
    return [Section(title: "whole job", scope: scope, rows: rows, measurements: measurements)]
  }

  /// The chosen candidates, with Mooring first in any case.
  private var chosen: [CandidateName] { CandidateName.syncing.filter(candidates.contains) }
}

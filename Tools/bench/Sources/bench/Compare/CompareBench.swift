import ArgumentParser
import Foundation

/// Compares the operations of a store with those of GRDB, SQLite and raw LMDB.
struct CompareBench: BenchPart {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Compares stores for a content feed on one machine.",
    discussion: """
      Every candidate holds the same seeded episodes with the same seven indexes and must give the \
      same answers. If two answers differ, the run ends with exit status 65 and without a table.
      """)

  @Option(parsing: .upToNextOption, help: "Numbers of episodes; each gets its own sections.")
  var rows = [100_000, 1_000_000]

  @Option(help: "Rounds of each repeatable operation; the median is shown.")
  var rounds = 3

  @Option(help: "Rounds of the bulk loads.")
  var loadRounds = 3

  @Option(help: "Rows of one commit in the load in arrival order.")
  var commitRows = 10_000

  @Option(help: "The seed of the data set.")
  var seed: UInt64 = 42

  @Option(
    parsing: .upToNextOption,
    help: "Candidates to run, of \(CandidateName.list) (default: all except grdb-cached).")
  var candidates: [CandidateName] = CandidateName.usual

  @OptionGroup var setting: SettingOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard !rows.isEmpty, rows.allSatisfy({ (5000...5_000_000).contains($0) }) else {
      throw ValidationError("--rows must be from 5000 to 5000000")
    }
    guard (1...20).contains(rounds), loadRounds > 0, commitRows > 0 else {
      throw ValidationError("--rounds must be from 1 to 20, and the other numbers positive")
    }
    guard Set(candidates).count == candidates.count else {
      throw ValidationError("a candidate is named twice")
    }
  }

  func measure() async throws -> [Section] {
    var sections: [Section] = []
    for rows in setting.quick ? [5_000] : rows { sections += try await compare(rows) }
    return sections
  }

  private func compare(_ rows: Int) async throws -> [Section] {
    let scratch = try setting.scratch(needing: rows * bytesPerRow * candidates.count)
    defer { scratch.remove() }
    var comparison = Comparison(
      stores: try candidates.map { try $0.makeStore() },
      workload: try Workload(rows: rows, seed: seed),
      plan: Plan(
        rounds: setting.quick ? 1 : rounds, loadRounds: setting.quick ? 1 : loadRounds,
        commitRows: commitRows, isQuick: setting.quick),
      scratch: scratch)
    return try await comparison.run()
  }

  /// The largest disk space per row and candidate: that of the store and of one more load.
  private var bytesPerRow: Int { 2500 }
}

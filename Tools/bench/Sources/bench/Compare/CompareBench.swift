import ArgumentParser
import Foundation

struct CompareBench: BenchPart {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Compares ways to keep a content feed on one machine, side by side.",
    discussion: """
      Every candidate holds the same seeded episodes under the same seven indexes and must give \
      the same answers; if two differ, the run ends with exit 65 and no table.
      """)

  @Option(parsing: .upToNextOption, help: "Episodes to load: a table for each size.")
  var rows = [100_000, 1_000_000]

  @Option(help: "Rounds of each repeatable operation; the median is shown.")
  var rounds = 5

  @Option(help: "Rounds of the whole loads.")
  var loadRounds = 3

  @Option(help: "Rows to a commit in the load in arrival order.")
  var commitRows = 10_000

  @Option(help: "The seed of the data set.")
  var seed: UInt64 = 42

  @Option(
    parsing: .upToNextOption, help: "Candidates to run, of \(CandidateName.list).")
  var candidates: [CandidateName] = CandidateName.allCases

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
    guard !candidates.contains(.mooringView) || candidates.contains(.mooring) else {
      throw ValidationError("mooring-view reads the store of mooring: name it, too")
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
      candidates: try CandidateName.make(candidates),
      workload: try Workload(rows: rows, seed: seed),
      plan: Plan(
        rounds: setting.quick ? 1 : rounds, loadRounds: setting.quick ? 1 : loadRounds,
        commitRows: commitRows, isQuick: setting.quick),
      scratch: scratch)
    return try await comparison.run()
  }

  /// Disk per row and candidate at the peak: the files kept, and one more load beside them.
  private var bytesPerRow: Int { 1500 }
}

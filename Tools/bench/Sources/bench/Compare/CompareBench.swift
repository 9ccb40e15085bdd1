import ArgumentParser
import Foundation

struct CompareBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Compares ways to keep a content feed on one machine, side by side.",
    discussion: """
      Every candidate holds the same seeded episodes under the same seven indexes and must give \
      the same answers; if two differ, the run ends with exit 65 and no table.
      """)

  @Option(parsing: .upToNextOption, help: "Episodes to load: a table for each size.")
  var rows = [100_000, 1_000_000]

  @Flag(help: "A smoke run: 10,000 episodes, two rounds. It judges nothing.")
  var quick = false

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

  @Option(help: "Where the temporary folder is made (default: the system's).")
  var dir: String?

  @Flag(help: "Print JSON instead of tables.")
  var json = false

  @Option(help: "Also draw the ratios of the last size as an SVG file.")
  var chart: String?

  @Option(help: "What the chart says of the machine and the date.")
  var caption = ""

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

  func run() throws {
    do {
      let results = try blocking { try await sizes.asyncMap(compare) }
      print(json ? try results.json() : results.map { $0.table() }.joined(separator: "\n\n"))
      if let chart, let last = results.last {
        try RatioChart(last, caption: caption).svg.write(
          toFile: chart, atomically: true, encoding: .utf8)
      }
    } catch let error as BenchError {
      FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
      throw ExitCode(error.code.rawValue)
    }
  }

  private var sizes: [Int] { quick ? [10_000] : rows }

  private func compare(_ rows: Int) async throws -> Results {
    let parent = dir.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
    let scratch = try ScratchFolder(in: parent, needing: rows * bytesPerRow * candidates.count)
    defer { scratch.remove() }
    var comparison = Comparison(
      candidates: try CandidateName.make(candidates),
      workload: try Workload(rows: rows, seed: seed),
      plan: Plan(
        rounds: quick ? 2 : rounds, loadRounds: quick ? 1 : loadRounds, commitRows: commitRows,
        isQuick: quick),
      scratch: scratch)
    return try await comparison.run()
  }

  /// Disk per row and candidate at the peak: the files kept, and one more load beside them.
  private var bytesPerRow: Int { 1500 }
}

extension Sequence {
  fileprivate func asyncMap<Value>(
    _ transform: (Element) async throws -> Value
  ) async throws -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await transform(element)) }
    return values
  }
}

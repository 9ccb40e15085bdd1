import ArgumentParser
import CRawLMDB
import Foundation

@main
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "What Mooring takes, beside what else does the same.",
    subcommands: [
      CompareBench.self, MigrationBench.self, JobsBench.self, ImportBench.self, JobsWorker.self,
      PutLoop.self,
    ],
    defaultSubcommand: CompareBench.self)
}

struct CompareBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Compares ways to keep a content feed on one machine, side by side.",
    discussion: """
      Every candidate holds the same seeded episodes under the same seven indexes and must give \
      the same answers; if two differ, the run ends with exit 65 and no table.
      """)

  @Option(help: "Episodes to load.")
  var rows = 1_000_000

  @Flag(help: "A smoke run: 20,000 episodes.")
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
    parsing: .upToNextOption,
    help: "Candidates to run; ratios are against the first. Of \(CandidateName.list).")
  var candidates: [CandidateName] = CandidateName.allCases

  @Option(help: "Where the temporary folder is made (default: the system's).")
  var dir: String?

  @Flag(help: "Print JSON instead of a table.")
  var json = false

  func validate() throws {
    guard episodeCount >= 5000, episodeCount <= 5_000_000 else {
      throw ValidationError("--rows must be from 5000 to 5000000")
    }
    guard rounds > 0, loadRounds > 0, commitRows > 0 else {
      throw ValidationError("rounds and --commit-rows must be positive")
    }
    guard Set(candidates).count == candidates.count else {
      throw ValidationError("a candidate is named twice")
    }
  }

  func run() throws {
    do {
      let results = try blocking { try await compare() }
      print(json ? try results.json() : results.table())
    } catch let error as BenchError {
      FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
      throw ExitCode(error.code.rawValue)
    }
  }

  private func compare() async throws -> Results {
    let parent = dir.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
    let scratch = try ScratchFolder(
      in: parent, needing: episodeCount * bytesPerRow * candidates.count)
    defer { scratch.remove() }
    var comparison = Comparison(
      candidates: candidates.map { $0.make() },
      workload: try Workload(rows: episodeCount, seed: seed),
      plan: Plan(rounds: rounds, loadRounds: loadRounds, commitRows: commitRows), scratch: scratch)
    return try await comparison.run()
  }

  private var episodeCount: Int { quick ? 20_000 : rows }

  /// Disk per row and candidate at the peak: the files kept, and one more load beside them.
  private var bytesPerRow: Int { 1500 }
}

enum CandidateName: String, CaseIterable, ExpressibleByArgument {
  case rawA = "raw-a"
  case rawB = "raw-b"
  case rawC = "raw-c"
  case mooring
  case mooringSilent = "mooring-silent"
  case grdb
  case grdbCodable = "grdb-codable"

  static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }

  func make() -> any Candidate {
    switch self {
    case .rawA: RawLMDBCandidate(name: "raw C A", layout: raw_layout_plain)
    case .rawB: RawLMDBCandidate(name: "raw C B", layout: raw_layout_partitioned)
    case .rawC: RawLMDBCandidate(name: "raw C C", layout: raw_layout_unique_value)
    case .mooring: MooringCandidate(keepsHistory: true)
    case .mooringSilent: MooringCandidate(keepsHistory: false)
    case .grdb: GRDBCandidate<RowEpisodeRecord>(name: "GRDB row")
    case .grdbCodable: GRDBCandidate<CodableEpisodeRecord>(name: "GRDB Codable")
    }
  }
}

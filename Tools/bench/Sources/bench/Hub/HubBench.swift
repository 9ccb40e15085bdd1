import ArgumentParser
import Foundation

/// Measures a store that several machines share, beside pgbench on the same server.
struct HubBench: BenchPart {
  static let configuration = CommandConfiguration(
    commandName: "hub",
    abstract: "Measures a store on several machines, whose hub is a PostgreSQL server of its own.")

  enum Part: String, CaseIterable, ExpressibleByArgument {
    case commits, delay, copies, workers
  }

  @Option(parsing: .upToNextOption, help: "What to measure: commits, delay, copies, workers.")
  var parts = Part.allCases
  @Option(help: "Episodes of the store that a machine joins.") var rows = 1_000_000
  @Option(help: "Rounds of commits and reads; the median is shown.") var rounds = 3
  @Option(help: "The release build of `mooring` (default: in the folder of this program).")
  var mooring: String?
  @Option(help: "A folder on another disk for the machines that join (default: that of --dir).")
  var secondDir: String?
  @OptionGroup var setting: SettingOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (1_000...5_000_000).contains(rows) else {
      throw ValidationError("--rows must be from 1000 to 5000000")
    }
    guard rounds > 0 else { throw ValidationError("--rounds must be positive") }
  }

  func measure() async throws -> [Section] {
    let plan = setting.quick ? HubPlan.quick : HubPlan(rows: rows, rounds: rounds)
    let scratch = try setting.scratch(
      needing: 1_000_000_000 + plan.rows * 8_000, secondDir: secondDir)
    defer { scratch.remove() }
    let measurements = try await measure(plan, scratch)
    let scope = "\(counted(plan.rows, "episodes")), \(counted(plan.rounds, "rounds"))"
    return [Section(title: "hub", scope: scope, rows: plan.rows, measurements: measurements)]
  }

  private func measure(_ plan: HubPlan, _ scratch: ScratchFolder) async throws -> [Measurement] {
    let beside = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent()
    let mooring = mooring ?? beside.appending(path: "mooring").path
    guard TimedProgram(mooring, []).exists else {
      return notRun("build the product mooring, or name it with --mooring")
    }
    guard let programs = DatabaseServer.programs else { return notRun("install postgresql-15") }
    let server = try DatabaseServer(programs, in: try scratch.emptyFolder("database"))
    defer { server.stop() }
    let site = HubSite(
      scratch: scratch, joinedDisk: secondDir == nil ? 0 : 1, server: server, mooring: mooring)
    var results = Measurements()
    for part in Part.allCases where parts.contains(part) {
      switch part {
      case .commits: try await HubTurns(site: site, plan: plan).run(into: &results)
      case .delay: try await HubDelay(site: site, plan: plan).run(into: &results)
      case .copies: try await HubCopies(site: site, plan: plan).run(into: &results)
      case .workers: try await HubWorkers(site: site, plan: plan).run(into: &results)
      }
    }
    return results.all
  }

  private func notRun(_ reason: String) -> [Measurement] {
    var measurement = Measurement(.hubTurns)
    measurement.note = "not run: \(reason)"
    return [measurement]
  }
}

/// The numbers and times of the measurements.
struct HubPlan {
  /// The episodes of the store that a machine joins.
  let rows: Int
  let rounds: Int
  /// The time of a round of commits.
  var turn = Duration.seconds(5)
  /// The items of the sync beside which another machine follows.
  var items = 100_000
  /// The reads of a round.
  var reads = 10_000
  /// The time until a machine without work counts as idle, and the time for which it is observed.
  var rest = Duration.seconds(15)
  var pause = Duration.seconds(10)
  /// The feeds that the workers share, and the time until a server answers.
  var feeds = 200
  var answerAfter = Duration.seconds(1)

  /// The plan of a smoke run.
  static let quick = HubPlan(
    rows: 1_000, rounds: 1, turn: .milliseconds(200), items: 1_000, reads: 100,
    rest: .milliseconds(200), pause: .milliseconds(500), feeds: 6, answerAfter: .milliseconds(50))
}

// The operations of `bench hub`.
extension Operation {
  static let hubTurns = Operation("commits of one put, one machine", "per s", .higher)
  static let pgbenchTurns = Operation("  pgbench with the same statements", "per s", .higher)
  static let hubShare = Operation(
    "  share of pgbench, one machine", "times", .higher, .atLeastItself(0.6))
  static let hubTurnsOfTwo = Operation("commits of one put, two machines", "per s", .higher)
  static let pgbenchTurnsOfTwo = Operation(
    "  pgbench with the same statements, two clients", "per s", .higher)
  static let hubShareOfTwo = Operation(
    "  share of pgbench, two machines", "times", .higher, .atLeastItself(0.6))
  static let hubDelay = Operation("commit until another machine shows it, p50", "ms")
  static let hubDelayBesideSync = Operation(
    "  beside a sync on the first machine, p99", "ms", .lower, .atMostItself(50))
  static let hubCreate = Operation("hub create", "s")
  static let hubJoin = Operation("hub join", "s", .lower, .atMostItself(60))
  static let getAlone = Operation("get by id, no hub", "ns")
  static let getInHub = Operation("get by id, in a hub", "ns")
  static let getQuotient = Operation(
    "  times that without a hub", "times", .lower, .atMostItself(1.05))
  static let listAlone = Operation("list of 20, no hub", "us")
  static let listInHub = Operation("list of 20, in a hub", "us")
  static let listQuotient = Operation(
    "  list, times that without a hub", "times", .lower, .atMostItself(1.05))
  static let hubWakeups = Operation(
    "idle machine, wakeups of a thread", "per s", .lower, .atMostItself(3))
  static let feedsOfOne = Operation("slow feeds, one worker of concurrency 4", "s")
  static let feedsOfThree = Operation("slow feeds, three such workers", "s")
  static let feedsSpeedup = Operation(
    "  times as fast as one", "times", .higher, .atLeastItself(2.2))
}

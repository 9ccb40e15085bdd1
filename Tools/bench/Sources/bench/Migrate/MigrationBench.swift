import ArgumentParser

/// Measures migrations, and the same index build in raw LMDB.
struct MigrationBench: BenchPart {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Measures migrations: a new attribute, an index while others read and write.")

  @Option(help: "Episodes in the store.") var rows = 1_000_000
  @Option(help: "Rounds; the median is shown.") var rounds = 3
  @OptionGroup var setting: SettingOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (1_000...5_000_000).contains(rows) else {
      throw ValidationError("--rows must be from 1000 to 5000000")
    }
    guard rounds > 0 else { throw ValidationError("--rounds must be positive") }
  }

  func measure() async throws -> [Section] {
    let rows = setting.quick ? 10_000 : rows
    let scratch = try setting.scratch(needing: rows * 4_000)
    defer { scratch.remove() }
    var migrations = MigrationRounds(
      workload: try Workload(rows: rows, seed: 42), rounds: setting.quick ? 1 : rounds,
      idle: setting.quick ? .milliseconds(100) : .seconds(1), scratch: scratch)
    return [
      Section(
        title: "migrations",
        scope: "\(counted(rows, "episodes")), \(counted(migrations.rounds, "rounds"))", rows: rows,
        measurements: try await migrations.run())
    ]
  }
}

// The operations of `bench migrate`.
extension Operation {
  static let addAttribute = Operation("add a defaulted attribute", "ms")
  static let buildIndex = Operation("index of two keys, alone", "s")
  static let filesWhileBuilding = Operation("  largest files then, of those before", "times")
  static let getIdle = Operation("point get, p99", "us")
  static let getWhileBuilding = Operation("  the same while building", "us")
  static let putMedian = Operation("another process's put while building, p50", "ms")
  static let putTail = Operation("  p99", "ms")
  static let putLongest = Operation("  longest", "ms")
  static let retype = Operation("retype an attribute", "s")
}

import ArgumentParser

@main
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measures Mooring and the alternatives to it on the same work.",
    subcommands: [
      AllBench.self, CompareBench.self, SyncBench.self, HomeBench.self, MigrationBench.self,
      JobsBench.self, ImportBench.self, HubBench.self, StatusBench.self, JobsWorker.self,
      FeedServer.self,
      SlowFeedServer.self, PutLoop.self, HotPath.self,
    ],
    defaultSubcommand: AllBench.self)
}

/// Runs several parts one after another and prints one table.
struct AllBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "all",
    abstract: "Runs all parts one after another and prints one table.",
    discussion: "Each part has further options of its own: see `bench compare --help`.")

  enum Part: String, CaseIterable, ExpressibleByArgument {
    case compare, sync, home, migrate, jobs, `import`, hub, status

    static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }

    fileprivate var command: any BenchPart.Type {
      switch self {
      case .compare: CompareBench.self
      case .sync: SyncBench.self
      case .home: HomeBench.self
      case .migrate: MigrationBench.self
      case .jobs: JobsBench.self
      case .import: ImportBench.self
      case .hub: HubBench.self
      case .status: StatusBench.self
      }
    }
  }

  @Option(parsing: .upToNextOption, help: "Parts to run: \(Part.list).")
  var only: [Part] = Part.allCases
  @Option(parsing: .upToNextOption, help: "Numbers of episodes for the part compare.")
  var rows: [Int] = []
  @Option(help: "Rounds of each part (default: that of the part).")
  var rounds: Int?
  @Option(help: "The release build of `mooring` for home and hub (default: beside bench).")
  var mooring: String?
  @OptionGroup var setting: SettingOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let parts = try Part.allCases.filter(only.contains).map { part -> any BenchPart in
      try part.command.parse(arguments(of: part))
    }
    try output.report(isQuick: setting.quick) {
      var sections: [Section] = []
      for part in parts { sections += try await part.measure() }
      return sections
    }
  }

  private func arguments(of part: Part) -> [String] {
    var arguments: [String] = setting.quick ? ["--quick"] : []
    if let dir = setting.dir { arguments += ["--dir", dir] }
    if part == .compare, !rows.isEmpty { arguments += ["--rows"] + rows.map(String.init) }
    if [.home, .hub].contains(part), let mooring { arguments += ["--mooring", mooring] }
    if ![.home, .status].contains(part), let rounds { arguments += ["--rounds", String(rounds)] }
    return arguments
  }
}

import ArgumentParser

@main
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "What Mooring takes, beside what else does the same.",
    subcommands: [
      AllBench.self, CompareBench.self, SyncBench.self, HomeBench.self, MigrationBench.self,
      JobsBench.self, ImportBench.self, JobsWorker.self, FeedServer.self, PutLoop.self,
      HotPath.self,
    ],
    defaultSubcommand: AllBench.self)
}

/// All parts, one after another, in one table.
struct AllBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "all",
    abstract: "All parts, one after another, in one table; the options of each are its own.")

  enum Part: String, CaseIterable, ExpressibleByArgument {
    case compare, sync, home, migrate, jobs, `import`

    static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }

    fileprivate var command: any BenchPart.Type {
      switch self {
      case .compare: CompareBench.self
      case .sync: SyncBench.self
      case .home: HomeBench.self
      case .migrate: MigrationBench.self
      case .jobs: JobsBench.self
      case .import: ImportBench.self
      }
    }
  }

  @Option(parsing: .upToNextOption, help: "Parts to run, of \(Part.list).")
  var only: [Part] = Part.allCases
  @Option(parsing: .upToNextOption, help: "Episodes of the comparison: sections for each size.")
  var rows: [Int] = []
  @Option(help: "Rounds of each part (default: as many as the part has by itself).")
  var rounds: Int?
  @Option(help: "The release build of `mooring` for the part home (default: the one beside it).")
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
    if part == .home, let mooring { arguments += ["--mooring", mooring] }
    if part != .home, let rounds { arguments += ["--rounds", String(rounds)] }
    return arguments
  }
}

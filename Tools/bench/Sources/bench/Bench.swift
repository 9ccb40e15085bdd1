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

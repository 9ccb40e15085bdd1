import ArgumentParser
import Foundation

/// Measures durable jobs, and queues in raw LMDB and in a table of SQLite.
struct JobsBench: BenchPart {
  static let configuration = CommandConfiguration(
    commandName: "jobs",
    abstract: "Measures durable jobs: enqueue, claim, finish. Each commit is flushed.")

  @Option(help: "Jobs in the operations with large commits.") var jobs = 50_000
  @Option(help: "Rounds; the median is shown.") var rounds = 5
  @Option(
    parsing: .upToNextOption,
    help: "Queues to measure: raw, sqlite, mooring. Ratios to other queues are left out.")
  var queues = CandidateName.queues
  @Flag(
    help: "Also claim among 1,000,000 ready and 10,000,000 finished jobs. Takes about half an hour."
  )
  var large = false
  @Option(help: "The factor for the jobs of --large, up to 1.") var largeScale = 1.0
  @OptionGroup var setting: SettingOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard jobs >= 1000, jobs <= 1_000_000 else {
      throw ValidationError("--jobs must be from 1000 to 1000000")
    }
    guard rounds > 0 else { throw ValidationError("--rounds must be positive") }
    guard largeScale > 0, largeScale <= 1 else {
      throw ValidationError("--large-scale must be above 0, and at most 1")
    }
    guard !queues.isEmpty, queues.allSatisfy(CandidateName.queues.contains) else {
      throw ValidationError("--queues takes raw, sqlite, mooring")
    }
  }

  func measure() async throws -> [Section] {
    let plan =
      setting.quick
      ? JobPlan.quick
      : JobPlan(jobs: jobs, rounds: rounds, slice: max(jobs / 50, 256), starts: max(jobs / 250, 20))
    let bytes = 1_000_000_000 + plan.jobs * 6000
    let scratch = try setting.scratch(
      needing: bytes + (large ? LargeJobStore.bytes(scale: largeScale) : 0))
    defer { scratch.remove() }
    let candidates = CandidateName.queues.filter(queues.contains).compactMap { $0.makeQueue() }
    var rounds = JobRounds(candidates: candidates, plan: plan, scratch: scratch)
    var results = try await rounds.run()
    if queues.contains(.mooring) {
      try await JobTrials(scratch: scratch, plan: plan).run(into: &results)
      if large {
        try await LargeJobStore(scratch: scratch, scale: largeScale).run(into: &results)
      }
    }
    return [
      Section(
        title: "jobs", scope: "\(counted(plan.jobs, "jobs")), \(counted(plan.rounds, "rounds"))",
        rows: plan.jobs, measurements: results.all)
    ]
  }
}

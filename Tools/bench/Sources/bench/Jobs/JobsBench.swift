import ArgumentParser
import Foundation

/// What durable jobs take, beside raw LMDB in C and a table of SQLite.
struct JobsBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "jobs",
    abstract: "What durable jobs take: to enqueue, to claim, to finish; each commit is flushed.")

  @Option(help: "Jobs in the figures of large commits.") var jobs = 50_000
  @Option(help: "Rounds; the median is shown.") var rounds = 5
  @Flag(help: "A smoke run: 5,000 jobs, one short round.") var quick = false
  @Option(
    parsing: .upToNextOption,
    help: "Queues to measure, of \(JobColumn.names). Aims that need another one are not judged.")
  var queues = JobColumn.allCases
  @Flag(
    help: "Also claim among 1,000,000 ready and 10,000,000 finished jobs. Takes about half an hour."
  )
  var large = false
  @Option(help: "Part of that number of jobs.") var largeScale = 1.0
  @Option(help: "Where the temporary folder is made (default: the system's).") var dir: String?

  func validate() throws {
    guard jobs >= 1000, jobs <= 1_000_000 else {
      throw ValidationError("--jobs must be from 1000 to 1000000")
    }
    guard rounds > 0 else { throw ValidationError("--rounds must be positive") }
    guard largeScale > 0, largeScale <= 1 else {
      throw ValidationError("--large-scale must be above 0, and at most 1")
    }
    guard !queues.isEmpty else { throw ValidationError("name a queue") }
  }

  func run() throws {
    do {
      print(try blocking { try await measure() }.table())
    } catch let error as BenchError {
      FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
      throw ExitCode(error.code.rawValue)
    }
  }

  private func measure() async throws -> JobResults {
    let plan =
      quick
      ? JobPlan(jobs: 5000, rounds: 1, turn: .milliseconds(100), pause: .seconds(3))
      : JobPlan(jobs: jobs, rounds: rounds, turn: .seconds(1), pause: .seconds(10))
    let parent = dir.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
    let bytes = 1_000_000_000 + plan.jobs * 6000
    let scratch = try ScratchFolder(
      in: parent, needing: bytes + (large ? LargeJobStore.bytes(scale: largeScale) : 0))
    defer { scratch.remove() }
    var rounds = JobRounds(
      candidates: JobColumn.allCases.filter(queues.contains).map { $0.make() },
      plan: plan, scratch: scratch)
    var results = try await rounds.run()
    if queues.contains(.mooring) {
      try await JobTrials(scratch: scratch, plan: plan).run(into: &results)
      if large {
        try await LargeJobStore(scratch: scratch, scale: largeScale).run(into: &results)
      }
    }
    return results
  }
}

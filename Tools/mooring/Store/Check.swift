import ArgumentParser
import Console
import DurableJobs
import EntityStore
import Foundation
import Maintenance
import Migrations
import StoreJobs

struct Check: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract:
      "Checks the file's pages, the catalog, records against indexes and back, the history, the "
      + "jobs.",
    discussion: """
      mooring check
      mooring check --only jobs --format json

      Changes nothing; other processes may read and write at the same time. Ends with 65 if it \
      finds damage, and stops after the first level that has some. Records, history and catalog \
      have seals, so that a flipped bit is found in any value; a store of an earlier version gets \
      them by `mooring migrate up`. The transactions counted are \
      those of the change history.

      --only jobs checks the invariants of the jobs. --only migrations compares the store with its \
      migration files, as `mooring migrate verify` does; without it this check is omitted.
      """)

  enum Part: String, CaseIterable, ExpressibleByArgument { case store, jobs, migrations }

  @OptionGroup var options: StoreOptions
  @Option(help: "Look at one part: store, jobs or migrations.") var only: Part?
  @OptionGroup var job: DetachOptions
  @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

  func validate() throws {
    try format.require(.table, .json)
    try job.refuse(["--only": only != nil])
  }

  func run() async throws {
    if job.detach {
      let queue = try options.jobsToWrite()
      return try await job.enqueue(CheckStore(), in: queue.store, options, format)
    }
    let findings = try look()
    // Damage is reported even if nothing reads the findings.
    let written = Result { try format.write(findings) { try findings.write(to: &$0) } }
    if findings.isClean { return try written.get() }
    if findings.store?.isClean == false {
      Message.say(
        "the store is damaged; restore a backup, or save what mooring-dump still reads")
    }
    throw ExitStatus.badData.exitCode
  }

  private func look() throws -> CheckFindings {
    var findings = CheckFindings(showsJobs: only == .jobs)
    switch only {
    case .migrations:
      findings.migrations = try options.openToRead(options.allSources).verifyMigrations()
    case .jobs: findings.jobs = try options.jobsToRead().check()
    case .store, nil:
      let report = try Store.check(at: options.folder, options: try options.storeOptions())
      RecordedCheck.record(report, at: Date(), inStore: options.folder)
      findings.store = report
      guard only == nil, report.isClean else { break }
      let store = try options.openToRead()
      if try store.hasJobs { findings.jobs = try JobQueue(store).check() }
    }
    return findings
  }
}

/// The findings of `mooring check` about the parts that it has checked.
private struct CheckFindings: Encodable {
  private enum Part: CodingKey { case jobs, migrations }

  /// True if jobs without problems are mentioned.
  let showsJobs: Bool
  var store: StoreReport?
  var jobs: JobReport?
  var migrations: [MigrationProblem]?

  init(showsJobs: Bool) { self.showsJobs = showsJobs }

  var isClean: Bool {
    store?.isClean != false && jobs?.isClean != false && migrations?.isEmpty != false
  }

  /// The keys of the store's report stand beside those of the other parts: scripts know them there.
  func encode(to encoder: any Encoder) throws {
    try store?.encode(to: encoder)
    var parts = encoder.container(keyedBy: Part.self)
    try parts.encodeIfPresent(jobs, forKey: .jobs)
    try parts.encodeIfPresent(migrations, forKey: .migrations)
  }

  func write(to output: inout StandardOutput) throws {
    try store?.write(to: &output)
    if let jobs, showsJobs || jobs.jobs > 0 || !jobs.isClean || jobs.remarkCount > 0 {
      if store != nil { try output.write("\n") }
      try jobs.write(to: &output)
    }
    guard let migrations else { return }
    for problem in migrations { try output.write("\(problem)".singleLine + "\n") }
    if migrations.isEmpty { try output.write("the store matches its migrations\n") }
  }
}

extension StoreReport {
  /// Prints it for people.
  func write(to output: inout StandardOutput) throws {
    let count = problemCount + (integrity?.problemCount ?? 0)
    var table = TextTable([
      .init("pages", .number), .init("entities", .number), .init("records", .number),
      .init("index entries", .number), .init("transactions", .number), .init("problems", .number),
    ])
    table.append(
      [
        pages.total, integrity?.entities, integrity?.records, integrity?.entries,
        integrity?.historyTransactions, count,
      ].map { $0.map { Formatting.count(Int64($0)) } ?? "-" })
    try output.write(table)
    let problems = problems + (integrity?.problems.map(\.description) ?? [])
    try output.write(problems: problems, of: count)
    for note in notes ?? [] { try output.write("note: \(note)\n") }
  }
}

extension JobReport {
  /// Prints it for people.
  func write(to output: inout StandardOutput) throws {
    var table = TextTable([
      .init("jobs", .number), .init("attempts", .number), .init("outputs", .number),
      .init("batches", .number), .init("schedules", .number), .init("runners", .number),
      .init("problems", .number),
    ])
    table.append(
      [jobs, attempts, outputs, groups, schedules, runners, problemCount]
        .map { Formatting.count(Int64($0)) })
    try output.write(table)
    try output.write(problems: problems, of: problemCount)
    try output.write(problems: remarks.map { "remark: \($0)" }, of: remarkCount)
  }
}

extension StandardOutput {
  fileprivate mutating func write(problems: [String], of count: Int) throws {
    for problem in problems { try write(problem.singleLine + "\n") }
    if count > problems.count {
      try write("and \(Formatting.count(Int64(count - problems.count))) more\n")
    }
  }
}

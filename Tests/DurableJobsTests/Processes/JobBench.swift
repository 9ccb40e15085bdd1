import DurableJobs
import EntityModel
import EntityStore
import Foundation
import Glibc
import Migrations
import TestSupport
import Testing

/// A store on which processes enqueue and run jobs, and what must hold of it in the end.
struct JobBench {
  let store: Store
  let path: String
  var queue: JobQueue { JobQueue(store) }

  init(in folder: TemporaryFolder) throws {
    path = folder.path("store")
    var options = Store.Options()
    options.mapSize = 1 << 30
    options.flushesCommits = false
    options.now = { QuickTime.now }
    store = try Store.open(
      at: path, migrations: [.model, .jobs], migrate: .ifEmpty, options: options)
  }

  // MARK: Processes

  /// A process that runs jobs; waits until it is about to.
  func runner(
    _ settings: [String] = [], environment: [String: String] = [:]
  ) async throws -> ReportingChild {
    let child = try ReportingChild("jobs-run", path, settings, environment: environment)
    await child.wait(for: "ready")
    return child
  }

  /// Requests an orderly stop of a runner, and waits for it.
  func stop(_ child: ReportingChild) async throws {
    child.signal(SIGTERM)
    let exit = await child.exit()
    try #require(exit == ChildProcess.Exit(status: 0, wasSignal: false), "\(child.all.suffix(3))")
    try #require(child.all.last == "stopped")
  }

  /// Enqueues jobs with the numbers from a separate process.
  func enqueuer(
    _ numbers: Range<Int>, environment: [String: String] = [:]
  ) throws -> ReportingChild {
    try ReportingChild(
      "jobs-enqueue", path, ["from=\(numbers.lowerBound)", "to=\(numbers.upperBound)"],
      environment: environment)
  }

  func enqueue(
    _ kind: JobKind, _ number: Int, _ change: (inout JobRequest) -> Void = { _ in }
  ) async throws -> JobID {
    var request = JobRequest(kind: kind, payload: Data("{\"number\":\(number)}".utf8))
    change(&request)
    return try await queue.enqueue(request).id
  }

  /// Waits until all jobs have ended.
  func waitForAll() async throws {
    let commits = try store.commits.observe()
    var seen = 0
    while true {
      seen = try await commits.next(after: seen)
      var filter = JobFilter()
      filter.states = [.scheduled, .ready, .held, .blocked, .running]
      filter.limit = 1
      if try queue.list(filter).isEmpty { return }
    }
  }

  // MARK: Ends

  func statuses() throws -> [JobStatus] {
    var filter = JobFilter()
    filter.limit = .max
    return try queue.list(filter)
  }

  /// Requires that no committed job is lost, that each had its effect once, that no two runners ran
  /// one at the same time, and that the store is undamaged.
  ///
  /// - Parameter numbers: The jobs whose enqueueing was acknowledged.
  func requireDone(_ numbers: Set<Int>, _ children: [ReportingChild]) throws {
    let statuses = try statuses()
    let known = try statuses.map { try #require($0.number) }
    try #require(Set(known).count == known.count)
    try #require(numbers.subtracting(known).isEmpty)
    for status in statuses {
      try #require(status.state == .succeeded, "\(status)")
      try #require(status.epoch == nil)
    }
    let effects = try store.fetch(FetchRequest(entityName: "Sample")).map(\.name)
    var expected = known.map { "effect \($0)" }
    for status in statuses where status.kind == "stepwise" {
      guard let number = status.number else { continue }
      expected += (0..<4).map { "step \(number) \($0)" }
    }
    try #require(effects.filter { $0 != "go" }.sorted() == expected.sorted())
    for child in children { try requireHonest(child) }
    try requireClean(store)
    try requireWholePages(store)
  }

  func requireHonest(_ child: ReportingChild) throws {
    let wrong = child.all.filter { $0.hasPrefix("twice") || $0.hasPrefix("error") }
    try #require(wrong.isEmpty, "\(wrong)")
  }
}

extension JobStatus {
  var number: Int? { payload.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } }
}

extension Record {
  fileprivate var name: String {
    fields.first { $0.name == "name" }.map { $0.value.text } ?? ""
  }
}

extension ReportingChild {
  /// The numbers that it has reported as enqueued.
  var enqueued: Set<Int> {
    Set(all.compactMap { $0.hasPrefix("enqueued ") ? Int($0.dropFirst(9)) : nil })
  }
}

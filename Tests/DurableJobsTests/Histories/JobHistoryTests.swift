import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

@testable import DurableJobs

/// Random histories: the jobs of a store equal those of a simple model, and the invariants hold
/// after every step.
@Suite(.timeLimit(.minutes(60))) struct JobHistoryTests {
  @Test(arguments: 1...4) func theJobsOfAStoreEqualTheModel(part: Int) async throws {
    for store in 0..<(isThorough ? 50 : 2) {
      try await withTemporaryJobs(seed: UInt64(100 * part + store)) { temporary in
        var bench = HistoryBench(temporary)
        for round in 0..<25 { try await bench.run(round: round, steps: 100) }
        // Its runners are made up, which a check of the store would find.
        _ = try await bench.start()
      }
    }
  }
}

/// One store on which histories run one after another.
private struct HistoryBench {
  private let target: HistoryStore
  private var random: SeededRandom

  init(_ temporary: TemporaryStore) {
    target = HistoryStore(store: temporary.store, clock: temporary.clock)
    random = temporary.random
  }

  mutating func run(round: Int, steps: Int) async throws {
    var model = try await start()
    var history = JobHistory(random: random)
    var log: [String] = []
    for number in 0..<steps {
      let step = history.next(model)
      var aborts = random.oneIn(15)
      // No transaction holds the time up.
      if case .advance = step { aborts = false }
      log.append("\(number)\(aborts ? " aborted" : ""): \(step)")
      let place = "seed \(random.seed), round \(round)\n\(log.suffix(30).joined(separator: "\n"))"
      let answer = try await target.apply(step, aborts: aborts)
      if !aborts {
        let before = model
        let expected = model.apply(step)
        try #require(answer == expected, "\(place)")
        // What was refused has changed nothing, whatever had gone before.
        if case .refused = expected { model = before }
        if case .exchange(_, let claimed) = answer { history.note(claimed, model) }
      }
      if number % 8 == 7 || number == steps - 1 { try check(model, place) }
    }
    random = history.random
  }

  /// Removes everything: creating a store costs more than a history.
  func start() async throws -> JobModel {
    try await target.store.write { transaction in
      for entity in [
        JobRecord.entity, GroupRecord.entity, QueueRecord.entity, AttemptRecord.entity,
        MinuteRecord.entity,
      ] {
        for record in try transaction.fetch(FetchRequest(entityName: entity)) {
          try transaction.delete(record.id)
        }
      }
    }
    let (job, group) = try await target.store.write { transaction in
      let job = try transaction.enqueue(JobRequest(kind: "a", payload: Data("1".utf8))).id
      let group = try transaction.openGroup()
      try transaction.delete(ObjectID(entity: JobRecord.entity, number: job.rawValue))
      try transaction.delete(ObjectID(entity: GroupRecord.entity, number: group.rawValue))
      return (job.rawValue, group.rawValue)
    }
    return JobModel(nextJob: job + 1, nextGroup: group + 1, now: target.clock.now)
  }

  // MARK: What holds

  private func check(_ model: JobModel, _ place: String) throws {
    let records = try target.records()
    try #require(records.count == model.jobs.count, "\(place)")
    for record in records {
      try #require(record.isInPlace, "\(place)")
      let job = JobModel.Job(record)
      try #require(job == model.jobs[job.id], "\(place)")
      try #require((record.state == .running) == (record.epoch != nil), "\(place)")
    }
    try checkLimits(records, place)
    try checkUniqueKeys(records, place)
    let groups = try target.groups()
    try #require(groups.count == model.groups.count, "\(place)")
    for (id, (group, jobs)) in groups {
      let members = records.filter { $0.group == id }
      try #require(group == model.groups[id], "\(place)")
      try #require(members.count == jobs, "\(place)")
      let pending = members.filter { $0.state?.isFinished == false }
      try #require(pending.count == group.pending, "\(place)")
    }
  }

  /// No limit is exceeded, and no job waits for a free one.
  private func checkLimits(_ records: [JobRecord], _ place: String) throws {
    for (key, jobs) in Dictionary(grouping: records, by: \.limitKey) {
      let running = jobs.filter { $0.state == .running }
      guard key != nil else {
        try #require(!jobs.contains { $0.state == .held }, "\(place)")
        continue
      }
      for job in running { try #require(running.count <= job.limitMax, "\(place)") }
      let competing = jobs.filter { $0.state == .ready }
      for job in jobs where job.state == .held {
        try #require(
          running.count >= job.limitMax || competing.contains { $0.lane == job.lane }, "\(place)")
      }
    }
  }

  private func checkUniqueKeys(_ records: [JobRecord], _ place: String) throws {
    let keys = records.compactMap(\.uniqueKey)
    try #require(Set(keys).count == keys.count, "\(place)")
    for record in records where record.uniqueKey != nil {
      switch record.uniqueUntil {
      case .untilStarted:
        let state = try #require(record.state, "\(place)")
        try #require(state != .running && !state.isFinished, "\(place)")
      case .untilFinished: try #require(record.state?.isFinished == false, "\(place)")
      case .untilRemoved, nil: break
      }
    }
  }
}

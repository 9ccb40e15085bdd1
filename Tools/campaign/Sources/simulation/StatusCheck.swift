import Foundation
import Synchronization

@testable import DurableJobs
@testable import EntityStore
@testable import FeedSync
@testable import StatusModel

/// Compares the store, and its status, with the model.
struct StatusCheck {
  let world: World
  /// The elapsed time since which nothing has disturbed the processes.
  let calmSince: Int

  /// The milliseconds within which what is due must happen.
  private static let patience = 3_600_000

  func run() throws {
    let status = try StatusReader(world.store).read()
    guard let jobs = status.jobs else { throw Violation("the status has no jobs") }
    try checkRecords()
    try checkCounts(jobs)
    try checkRunners(status.workers)
    try checkFeeds(status.feeds)
    try checkProgress()
    try checkSizes()
  }

  // MARK: Jobs

  private func checkRecords() throws {
    let expected = world.jobs.withLock { $0.jobs.values.sorted { $0.id < $1.id } }
    try world.store.read { transaction in
      let rows = try JobRows(reading: transaction)
      let count = try transaction.count(of: JobRecord.entity)
      guard count == expected.count else {
        throw Violation("the store has \(count) jobs, not \(expected.count)")
      }
      for job in expected {
        guard let record = try rows.job(JobID(rawValue: job.id)), let state = record.state else {
          throw Violation("job \(job.id) is lost")
        }
        let isSame: Bool =
          switch job.state {
          case .waiting: [.scheduled, .ready, .held].contains(state)
          case .running(let epoch): state == .running && record.epoch == epoch
          case .ended(let word): state.rawValue == word
          }
        guard isSame else {
          throw Violation("job \(job.id) is \(state) in the store, and should be \(job.state)")
        }
        guard Int(record.attempts) == job.attempts, Int(record.rescues) == job.rescues else {
          throw Violation(
            "job \(job.id) has \(record.attempts) attempts and \(record.rescues) rescues, "
              + "not \(job.attempts) and \(job.rescues)")
        }
      }
    }
  }

  private func checkCounts(_ jobs: JobsStatus) throws {
    let models = world.jobs.withLock { Array($0.jobs.values) }
    func check(_ name: String, _ count: Int, _ expected: Int) throws {
      guard count != expected else { return }
      throw Violation("the status counts \(count) \(name) jobs, and there are \(expected)")
    }
    let waiting = jobs.count(.scheduled) + jobs.count(.ready) + jobs.count(.held)
    try check("waiting", waiting, models.count { $0.state == .waiting })
    try check("running", jobs.count(.running), models.count(where: \.isRunning))
    try check("blocked", jobs.count(.blocked), 0)
    for state in JobState.finished {
      try check(
        state.rawValue, jobs.count(state), models.count { $0.state == .ended(state.rawValue) })
    }
    let lanes = jobs.statistics.lanes
    guard jobs.statistics.areLanesComplete else { return }
    try check("waiting", lanes.reduce(0) { $0 + $1.ready + $1.held + $1.scheduled }, waiting)
    try check("running", lanes.reduce(0) { $0 + $1.running }, jobs.count(.running))
  }

  private func checkRunners(_ workers: [WorkerStatus]) throws {
    let runners = world.jobs.withLock(\.runners)
    guard Set(workers.map(\.runner.epoch)) == runners else {
      throw Violation(
        "the status has the runners \(workers.map(\.runner.epoch)), and there are \(runners)")
    }
    let alive = world.alive.withLock { $0 }
    let uncertain = world.hub == nil ? [:] : world.uncertain.withLock { $0 }
    for worker in workers where worker.runner.isAlive != alive.contains(worker.runner.epoch) {
      if uncertain[worker.runner.epoch, default: 0] >= world.clock.elapsed { continue }
      throw Violation(
        "the status says of runner \(worker.runner.epoch): alive \(worker.runner.isAlive)")
    }
  }

  // MARK: Feeds

  private func checkFeeds(_ feeds: FeedsStatus) throws {
    let (models, now) = (world.network.models, world.now)
    guard feeds.total == models.feeds.count else {
      throw Violation("the status counts \(feeds.total) feeds, not \(models.feeds.count)")
    }
    for feed in feeds.worst {
      guard let index = models.index(number: feed.id) else {
        throw Violation("the status has feed \(feed.id)")
      }
      try check(feed, models.feeds[index], now)
    }
  }

  private func check(_ feed: FeedStatus, _ model: FeedModel, _ now: Moment) throws {
    guard model.isCertain, !model.isAsked else { return }
    func refuse(_ expected: String) -> Violation {
      Violation("the status says that feed \(feed.id) is \(feed.condition), and it is \(expected)")
    }
    guard feed.errors == model.errors else {
      throw Violation("feed \(feed.id) has \(feed.errors) errors, not \(model.errors)")
    }
    if model.isGone { if feed.condition != .gone { throw refuse("gone") } else { return } }
    if model.isPaused { if feed.condition != .paused { throw refuse("paused") } else { return } }
    let models = world.network.models
    let isWaiting = model.wait.map { $0.until > now.wall } ?? false
    // A wait is cleared with the next run after the clock was set back by more than an hour.
    if let wait = model.wait, wait.setBack != models.setBack { return }
    // A feed that would be late, and whose host has asked to wait, is waiting, too.
    let isHostWaiting = models.hostWaits[model.host].map { $0.until > now.wall } ?? false
    if isHostWaiting, feed.condition == .waiting, model.errors == 0 { return }
    if isWaiting != (feed.condition == .waiting) { throw refuse(isWaiting ? "waiting" : "not") }
    if isWaiting { return }
    if model.errors > 0 {
      if feed.condition != .failing { throw refuse("failing") } else { return }
    }
    let isCalm = now.elapsed - calmSince > 2 * Self.patience
    if feed.condition == .late, isCalm { throw refuse("not late") }
    if [.gone, .paused, .failing].contains(feed.condition) { throw refuse("none of these") }
  }

  // MARK: Progress and sizes

  private func checkProgress() throws {
    let now = world.now
    let calm = now.elapsed - calmSince - Self.patience
    guard calm > 0 else { return }
    let models = world.network.models
    for feed in models.feeds {
      guard let late = models.overdue(feed, at: now, calmSince: calmSince),
        late * 1_000 > Self.patience
      else { continue }
      throw Violation("feed \(feed.number) is overdue by \(late) s")
    }
    let (jobs, fired) = world.jobs.withLock { ($0.unfinished, $0.fired) }
    for job in jobs where job.state == .waiting {
      let late = min(now.wall.timeIntervalSince(job.due.wall) * 1_000, Double(calm + Self.patience))
      if late > Double(Self.patience) {
        throw Violation("job \(job.id) is overdue by \(Int(late / 1_000)) s")
      }
    }
    for (schedule, period) in world.periods.withLock({ $0 }) {
      guard !jobs.contains(where: { $0.schedule == schedule }) else { continue }
      let last = max(fired[schedule]?.elapsed ?? 0, calmSince)
      // A small step of the clock backward delays the next time by as much as three hours.
      if now.elapsed - last > 2 * period * 1_000 + 4 * Self.patience {
        throw Violation("schedule \(schedule) has not fired for \((now.elapsed - last) / 1_000) s")
      }
    }
  }

  private func checkSizes() throws {
    let feeds = world.network.models.feeds.count
    let jobs = world.jobs.withLock(\.jobs.count)
    try world.store.read { transaction in
      for (entity, most) in [
        ("_FeedRun", 20 * feeds), ("_Host", Scenario.hosts.count), ("_JobAttempt", 25 * jobs),
        ("_JobRunner", 64), ("_Job", 5_000),
      ] {
        let count = try transaction.count(of: entity)
        if count > most { throw Violation("there are \(count) records of \(entity)") }
      }
    }
  }
}

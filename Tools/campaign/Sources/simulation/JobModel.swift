import Foundation

/// The state that a job must have, kept from what was asked of it and from how its attempts ended.
struct JobModel {
  enum State: Equatable {
    case waiting
    case running(epoch: Int64)
    /// The stored word of the state in which it has ended.
    case ended(String)
  }

  let id: Int64
  let kind: String
  /// The number of its feed, if it syncs one.
  let feed: Int64?
  let schedule: Int64?
  let limitKey: String?
  let limitMax: Int
  let attemptsMax: Int
  let rescuesMax: Int
  let retention: Double
  /// The time before which it must not start.
  var due: Moment
  /// True for a time of the calendar, which a step of the clock does not change.
  var isCalendar: Bool
  /// The sum of the steps of the clock backward when `due` was set.
  var setBack: Int
  var state = State.waiting
  var attempts = 0
  var rescues = 0
  /// True if it has stored a checkpoint in the current attempt.
  var hasCheckpoint = false
  var isCancelled = false
  /// The time of its removal, once it has ended.
  var removedAt = Date.distantFuture

  var isUnfinished: Bool { if case .ended = state { false } else { true } }
  var isRunning: Bool { if case .running = state { true } else { false } }

  func mayStart(at now: Moment, setBack: Int) -> Bool {
    if due.wall.timeIntervalSince(now.wall) < 0.002 { return true }
    if isCalendar, kind == "work", schedule == nil { return false }
    return due.elapsed <= now.elapsed + 2 || self.setBack != setBack
  }
}

/// The jobs of a simulation. Knows neither the store nor the transitions of the jobs.
struct JobModels {
  private(set) var jobs: [Int64: JobModel] = [:]
  private(set) var lastNumber: Int64 = 0
  /// The living and the dead runners whose jobs were not taken over.
  private(set) var runners: Set<Int64> = []
  private(set) var started = 0
  private(set) var rescued = 0
  /// The time at which the last job of each schedule was enqueued or has ended.
  private(set) var fired: [Int64: Moment] = [:]
  private var firedTimes: [Int64: Date] = [:]
  private var setBack = 0
  private var setBackAtFire: [Int64: Int] = [:]

  var unfinished: [JobModel] { jobs.values.filter(\.isUnfinished).sorted { $0.id < $1.id } }

  mutating func clockWasSetBack(by milliseconds: Int) { setBack += milliseconds }

  // MARK: Enqueuing

  /// Takes over a job that was enqueued.
  ///
  /// - Parameter period: The seconds between two times of its schedule.
  mutating func adopt(_ new: JobModel, period: Int?, at now: Moment) throws {
    var new = new
    new.setBack = setBack
    lastNumber = max(lastNumber, new.id)
    if let feed = new.feed,
      let other = jobs.values.first(where: { $0.feed == feed && $0.isUnfinished })
    {
      throw Violation("job \(new.id) syncs feed \(feed), and so does job \(other.id)")
    }
    if let schedule = new.schedule, let period { try fire(schedule, new, period, at: now) }
    jobs[new.id] = new
  }

  private mutating func fire(
    _ schedule: Int64, _ job: JobModel, _ period: Int, at now: Moment
  ) throws {
    let second = job.due.wall.timeIntervalSince1970
    if job.due.wall > now.wall { throw Violation("schedule \(schedule) has fired too early") }
    guard Int(second) % period == 0 else {
      throw Violation(
        "schedule \(schedule) has fired for \(job.due.wall), which is none of its times")
    }
    if jobs.values.contains(where: { $0.schedule == schedule && $0.isUnfinished }) {
      throw Violation("schedule \(schedule) has fired while its last job has not ended")
    }
    // After a step of hours, times are repeated.
    let wasSetBack = setBack - (setBackAtFire[schedule] ?? 0)
    if let last = firedTimes[schedule], last >= job.due.wall, wasSetBack < 3 * 3_600_000 {
      throw Violation("schedule \(schedule) has fired twice for \(job.due.wall)")
    }
    (firedTimes[schedule], fired[schedule]) = (job.due.wall, now)
    setBackAtFire[schedule] = setBack
  }

  mutating func register(_ epoch: Int64) { runners.insert(epoch) }

  mutating func leave(_ epoch: Int64) throws {
    if let job = jobs.values.first(where: { $0.state == .running(epoch: epoch) }) {
      throw Violation("runner \(epoch) has left with job \(job.id)")
    }
    runners.remove(epoch)
  }

  // MARK: Attempts

  mutating func start(_ id: Int64, epoch: Int64, at now: Moment) throws {
    guard var job = jobs[id] else { throw Violation("job \(id) was started, and does not exist") }
    guard job.state == .waiting else {
      throw Violation("job \(id) was started in the state \(job.state)")
    }
    guard job.mayStart(at: now, setBack: setBack) else {
      throw Violation(
        "job \(id) was started \(job.due.wall.timeIntervalSince(now.wall)) s before its time")
    }
    job.state = .running(epoch: epoch)
    job.attempts += 1
    job.hasCheckpoint = false
    jobs[id] = job
    started += 1
    if let key = job.limitKey {
      let running = jobs.values.count { $0.limitKey == key && $0.isRunning }
      if running > job.limitMax { throw Violation("\(running) jobs run under the limit \(key)") }
    }
  }

  mutating func storeCheckpoint(_ id: Int64) { jobs[id]?.hasCheckpoint = true }

  /// The end of an attempt, as its handler has decided it.
  enum End {
    case success, discard, cancel, handBack
    case failure(wait: Double)
    case snooze(wait: Double)
  }

  mutating func finish(_ id: Int64, epoch: Int64, _ end: End, at now: Moment) throws {
    guard var job = jobs[id], job.state == .running(epoch: epoch) else {
      throw Violation("job \(id) has ended under runner \(epoch), which does not run it")
    }
    switch end {
    case .success: job.end("succeeded", at: now)
    case .discard: job.end("discarded", at: now)
    case .cancel: job.end("cancelled", at: now)
    case .handBack:
      job.attempts -= 1
      job.wait(0, at: now, setBack)
    case .failure(let wait):
      if job.attempts >= job.attemptsMax {
        job.end("discarded", at: now)
      } else {
        job.wait(wait, at: now, setBack)
      }
    case .snooze(let wait):
      job.attempts -= 1
      job.wait(wait, at: now, setBack)
    }
    jobs[id] = job
    noteEnd(of: job, at: now)
  }

  private mutating func noteEnd(of job: JobModel, at now: Moment) {
    if let schedule = job.schedule, !job.isUnfinished { fired[schedule] = now }
  }

  /// Takes over the jobs of a dead runner.
  ///
  /// - Returns: Their number.
  mutating func rescue(_ epoch: Int64, wasStopping: Bool, at now: Moment) -> Int {
    runners.remove(epoch)
    let lost = jobs.values.filter { $0.state == .running(epoch: epoch) }
    for var job in lost {
      job.attempts -= 1
      let counts = !wasStopping && !job.hasCheckpoint
      if counts { job.rescues += 1 }
      if counts, job.rescues > job.rescuesMax {
        job.end("poisoned", at: now)
      } else {
        let wait = counts && job.rescues > 1 ? pow(2, Double(job.rescues - 2)) : 0
        job.wait(wait, at: now, setBack)
      }
      jobs[job.id] = job
      noteEnd(of: job, at: now)
    }
    rescued += lost.count
    return lost.count
  }

  // MARK: The operator

  mutating func cancel(_ id: Int64, at now: Moment) {
    guard var job = jobs[id] else { return }
    if job.isRunning { job.isCancelled = true } else { job.end("cancelled", at: now) }
    jobs[id] = job
    noteEnd(of: job, at: now)
  }

  mutating func retry(_ id: Int64, at now: Moment) {
    jobs[id]?.attempts = 0
    jobs[id]?.rescues = 0
    jobs[id]?.isCancelled = false
    jobs[id]?.wait(0, at: now, setBack)
  }

  /// Removes the jobs whose retention is over.
  ///
  /// - Returns: Their number.
  mutating func prune(at now: Moment) -> Int {
    let old = jobs.values.filter {
      !$0.isUnfinished && $0.removedAt <= now.wall.addingTimeInterval(0.000_5)
    }
    for job in old { jobs[job.id] = nil }
    return old.count
  }
}

extension JobModel {
  fileprivate mutating func end(_ state: String, at now: Moment) {
    self.state = .ended(state)
    isCancelled = false
    removedAt = now.wall.addingTimeInterval(retention)
  }

  /// Waits for seconds from now on; a job whose cancellation was requested ends instead.
  fileprivate mutating func wait(_ seconds: Double, at now: Moment, _ setBack: Int) {
    if isCancelled { return end("cancelled", at: now) }
    state = .waiting
    due = Moment(
      elapsed: now.elapsed + Int(seconds * 1_000), wall: now.wall.addingTimeInterval(seconds))
    (isCalendar, self.setBack) = (false, setBack)
  }
}

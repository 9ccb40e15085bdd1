import Foundation

@testable import DurableJobs

/// The jobs of a store as a list in memory: the same rules, without indexes, lanes or places. It
/// has no state `held`: a job that waits because of a limit is ready and is skipped.
struct JobModel {
  struct Job: Equatable {
    let id: Int64
    let kind: JobKind
    let queue: QueueName
    let attemptsMax: Int
    let rescuesMax: Int
    let retention: Double
    let uniqueUntil: JobUniqueness
    let limit: JobLimit?
    let group: Int64?
    var state = JobState.ready
    /// Since when it is ready, when it becomes so, when it may be removed.
    var at: Date
    var runAt: Date
    var payload: Data
    var priority: Int
    var attempts = 0
    var rescues = 0
    var claims: Int64 = 0
    var epoch: Int64?
    var startedAt: Date?
    var finishedAt: Date?
    var isCancelled = false
    var uniqueKey: String?
    var releasedUniqueKey: String?
    var checkpointClaim: Int64?
    var hasCheckpoint = false
    var done: Int64?
    var error: String?
  }

  struct Group: Equatable {
    var isClosed = false
    var pending = 0
    var succeeded = 0
    var completion: Int64?
  }

  private(set) var jobs: [Int64: Job] = [:]
  private(set) var groups: [Int64: Group] = [:]
  private(set) var paused: Set<QueueName> = []
  private var nextJob: Int64
  private var nextGroup: Int64
  var now: Date

  init(nextJob: Int64, nextGroup: Int64, now: Date) {
    self.nextJob = nextJob
    self.nextGroup = nextGroup
    self.now = now
  }

  mutating func apply(_ step: HistoryStep) -> HistoryAnswer {
    switch step {
    case .enqueue(let request, let group):
      if let group {
        guard let known = groups[group] else { return .refused(.unknownGroup) }
        if known.isClosed { return .refused(.wrongState) }
      }
      return .job(enqueue(request, in: group))
    case .group(let requests, let completion):
      guard let group = open(completion) else { return .refused(.duplicate) }
      for request in requests { _ = enqueue(request, in: group) }
      close(group)
      return .group(group)
    case .openGroup(let completion):
      guard let group = open(completion) else { return .refused(.duplicate) }
      return .group(group)
    case .closeGroup(let group):
      guard groups[group] != nil else { return .refused(.unknownGroup) }
      close(group)
      return .nothing
    case .exchange(let ended, let progress, let terms):
      for (claim, progress) in progress where holds(claim) {
        jobs[claim.job.rawValue]?.done = progress.done
      }
      let results = ended.map { finish($0, $1) }
      return .exchange(results, claimed: terms.count > 0 ? claim(terms) : [])
    case .checkpoint(let claim):
      guard holds(claim) else { return .refused(.lostClaim) }
      jobs[claim.job.rawValue]?.checkpointClaim = claim.number
      jobs[claim.job.rawValue]?.hasCheckpoint = true
      return .nothing
    case .complete(let claim):
      guard holds(claim) else { return .refused(.lostClaim) }
      _ = finish(claim, .succeeded(nil))
      return .nothing
    case .rescue(let epoch, let wasStopping):
      return .count(rescue(epoch, wasStopping: wasStopping))
    case .cancel(let id): return cancel(id.rawValue)
    case .retry(let id): return retry(id.rawValue)
    case .setPaused(let isPaused, let queue):
      let isChange = paused.contains(queue) != isPaused
      if isPaused { paused.insert(queue) } else { paused.remove(queue) }
      return .count(isChange ? 1 : 0)
    case .prune: return .count(prune())
    case .advance(let seconds):
      now.addTimeInterval(seconds)
      return .nothing
    }
  }

  // MARK: Enqueuing

  private mutating func enqueue(
    _ request: JobRequest, in group: Int64? = nil, isBlocked: Bool = false
  ) -> EnqueuedJob {
    let key = request.uniqueKey.map { "\(request.kind):\($0)" }
    if let key, var holder = jobs.values.first(where: { $0.uniqueKey == key }) {
      if request.onConflict == .replace, holder.state == .ready || holder.state == .scheduled {
        holder.payload = request.payload
        holder.priority = request.priority
        holder.runAt = request.runAt ?? now
        wait(&holder, until: holder.runAt)
      }
      return EnqueuedJob(id: JobID(rawValue: holder.id), isNew: false)
    }
    var job = Job(
      id: nextJob, kind: request.kind, queue: request.queue, attemptsMax: request.attemptsMax,
      rescuesMax: request.rescuesMax, retention: request.retention.seconds,
      uniqueUntil: request.uniqueness, limit: request.limit, group: group, at: now,
      runAt: request.runAt ?? now, payload: request.payload, priority: request.priority,
      uniqueKey: key)
    nextJob += 1
    if isBlocked {
      job.state = .blocked
      jobs[job.id] = job
    } else {
      wait(&job, until: job.runAt)
    }
    if let group { groups[group]?.pending += 1 }
    return EnqueuedJob(id: JobID(rawValue: job.id), isNew: true)
  }

  private mutating func wait(_ job: inout Job, until date: Date) {
    job.state = date > now ? .scheduled : .ready
    job.at = date
    jobs[job.id] = job
  }

  // MARK: Groups

  private mutating func open(_ completion: JobRequest?) -> Int64? {
    var group = Group()
    if let completion {
      let job = enqueue(completion, isBlocked: true)
      guard job.isNew else { return nil }
      group.completion = job.id.rawValue
    }
    defer { nextGroup += 1 }
    groups[nextGroup] = group
    return nextGroup
  }

  private mutating func close(_ group: Int64) {
    groups[group]?.isClosed = true
    completeGroup(group)
    forgetIfEmpty(group)
  }

  private mutating func forgetIfEmpty(_ group: Int64) {
    if groups[group]?.isClosed == true, !jobs.values.contains(where: { $0.group == group }) {
      groups[group] = nil
    }
  }

  private mutating func completeGroup(_ id: Int64) {
    guard let group = groups[id], group.isClosed, group.pending == 0,
      let completion = group.completion, var job = jobs[completion], job.state == .blocked
    else { return }
    wait(&job, until: job.runAt)
  }

  // MARK: Running

  func holds(_ claim: Claim) -> Bool {
    guard let job = jobs[claim.job.rawValue] else { return false }
    return job.state == .running && job.epoch == claim.epoch && job.claims == claim.number
  }

  private mutating func claim(_ terms: ClaimTerms) -> [Int64] {
    for job in jobs.values where job.state == .scheduled && job.at <= now {
      jobs[job.id]?.state = .ready
    }
    var room = terms.queueRoom
    var admitsSuspect = terms.admitsSuspect
    var claimed: [Int64] = []
    for var job in waiting(under: terms) where claimed.count < terms.count {
      if room[job.queue] == 0 || job.rescues > 1 && !admitsSuspect || !hasRoom(job) { continue }
      if job.rescues > 1 { admitsSuspect = false }
      room[job.queue]? -= 1
      job.attempts += 1
      job.claims += 1
      job.epoch = terms.epoch
      job.startedAt = now
      if job.uniqueUntil == .untilStarted, let key = job.uniqueKey {
        job.uniqueKey = nil
        job.releasedUniqueKey = key
      }
      job.runAt = job.at
      job.state = .running
      job.at = now
      jobs[job.id] = job
      claimed.append(job.id)
    }
    return claimed
  }

  private func waiting(under terms: ClaimTerms) -> [Job] {
    jobs.values
      .filter {
        $0.state == .ready && terms.kinds.contains($0.kind) && !paused.contains($0.queue)
      }
      .sorted { (-$0.priority, $0.at, $0.id) < (-$1.priority, $1.at, $1.id) }
  }

  func hasRoom(_ job: Job) -> Bool {
    guard let limit = job.limit else { return true }
    return running(under: limit.key).count < limit.max
  }

  func running(under key: String) -> [Job] {
    jobs.values.filter { $0.state == .running && $0.limit?.key == key }
  }

  private mutating func finish(_ claim: Claim, _ outcome: Outcome) -> FinishResult {
    guard holds(claim), var job = jobs[claim.job.rawValue] else { return .lostClaim }
    job.epoch = nil
    switch outcome {
    case .succeeded:
      job.error = nil
      end(&job, as: .succeeded)
    case .failed(let text, let wait):
      job.error = text
      if job.attempts >= job.attemptsMax {
        end(&job, as: .discarded)
      } else {
        reschedule(&job, at: now.addingTimeInterval(wait.seconds))
      }
    case .discarded(let text):
      job.error = text
      end(&job, as: .discarded)
    case .snoozed(let wait, let text):
      job.attempts -= 1
      if let text { job.error = text }
      reschedule(&job, at: now.addingTimeInterval(wait.seconds))
    case .cancelled: end(&job, as: .cancelled)
    case .handedBack:
      job.attempts -= 1
      if job.isCancelled {
        end(&job, as: .cancelled)
      } else {
        // As if it had not been claimed, also if the clock was set back since.
        takeUniqueKeyAgain(&job)
        job.state = .ready
        job.at = job.runAt
        jobs[job.id] = job
      }
    }
    return .finished(jobs[job.id]?.state ?? .ready)
  }

  private mutating func reschedule(_ job: inout Job, at date: Date) {
    if job.isCancelled { return end(&job, as: .cancelled) }
    takeUniqueKeyAgain(&job)
    // The wait is counted from now, also after a start before the clock was set back.
    if let startedAt = job.startedAt, startedAt > now { job.startedAt = now }
    wait(&job, until: date)
  }

  private func takeUniqueKeyAgain(_ job: inout Job) {
    guard let key = job.releasedUniqueKey, !jobs.values.contains(where: { $0.uniqueKey == key })
    else { return }
    job.uniqueKey = key
    job.releasedUniqueKey = nil
  }

  private mutating func end(_ job: inout Job, as state: JobState) {
    job.finishedAt = now
    job.isCancelled = false
    job.hasCheckpoint = false
    if job.uniqueUntil != .untilRemoved { job.uniqueKey = nil }
    job.releasedUniqueKey = nil
    job.state = state
    job.at = now.addingTimeInterval(job.retention)
    jobs[job.id] = job
    guard let group = job.group else { return }
    groups[group]?.pending -= 1
    if state == .succeeded { groups[group]?.succeeded += 1 }
    completeGroup(group)
  }

  // MARK: From outside

  private mutating func rescue(_ epoch: Int64, wasStopping: Bool) -> Int {
    let held = jobs.values.filter { $0.state == .running && $0.epoch == epoch }
    for var job in held {
      let counts = !wasStopping && job.checkpointClaim != job.claims
      job.epoch = nil
      job.attempts -= 1
      if counts { job.rescues += 1 }
      if counts, job.rescues > job.rescuesMax {
        job.error = "its runner died \(job.rescues) times without a checkpoint"
        end(&job, as: .poisoned)
      } else {
        let wait = counts && job.rescues > 1 ? pow(2, Double(job.rescues - 2)) : 0
        reschedule(&job, at: now.addingTimeInterval(wait))
      }
    }
    return held.count
  }

  private mutating func cancel(_ id: Int64) -> HistoryAnswer {
    guard var job = jobs[id] else { return .refused(.unknownJob) }
    if job.state.isFinished { return .refused(.wrongState) }
    if job.state == .running {
      jobs[id]?.isCancelled = true
      return .state(.running)
    }
    end(&job, as: .cancelled)
    return .state(.cancelled)
  }

  private mutating func retry(_ id: Int64) -> HistoryAnswer {
    guard var job = jobs[id] else { return .refused(.unknownJob) }
    switch job.state {
    case .scheduled: break
    case .discarded, .cancelled, .poisoned:
      job.attempts = 0
      job.rescues = 0
      job.finishedAt = nil
      if let group = job.group { groups[group]?.pending += 1 }
    case .ready, .held, .blocked, .running, .succeeded: return .refused(.wrongState)
    }
    job.runAt = now
    wait(&job, until: now)
    let isBlocked = groups.values.contains {
      $0.completion == id && !($0.isClosed && $0.pending == 0)
    }
    guard job.claims == 0, isBlocked else { return .state(.ready) }
    jobs[id]?.state = .blocked
    return .state(.blocked)
  }

  private mutating func prune() -> Int {
    let due = jobs.values.filter { $0.state.isFinished && $0.at <= now }
    for job in due {
      jobs[job.id] = nil
      if let group = job.group { forgetIfEmpty(group) }
    }
    return due.count
  }
}

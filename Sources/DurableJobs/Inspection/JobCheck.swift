import EntityModel
import EntityStore
import Foundation

/// The check of all records of the jobs on one snapshot.
struct JobCheck {
  let rows: JobRows
  var report = JobReport()
  private let runners: [Int64: JobRunnerStatus]
  private var runningUnder: [Int64: Int] = [:]
  /// The limits of running jobs: how many run, and how many may run by the largest of their limits.
  private var inUse: [String: (running: Int64, max: Int64)] = [:]
  /// The limits for which a job waits, without those under which a running or ready job was found.
  private var keysWaitedFor: Set<String> = []
  /// The completion jobs that the groups name.
  var completions: Set<JobID> = []

  init(_ rows: JobRows, runners: [JobRunnerStatus]) {
    self.rows = rows
    self.runners = Dictionary(uniqueKeysWithValues: runners.map { ($0.epoch, $0) })
    report.runners = runners.count
  }

  mutating func run() throws {
    keysWaitedFor = try heldKeys()
    try checkGroups()
    try rows.snapshot.eachRow(of: rows.jobs) { row in
      try check(JobRecord(row))
      return true
    }
    checkLimits()
    try checkRemains()
    try checkSchedules()
    try remark()
  }

  // MARK: One job

  private mutating func check(_ job: JobRecord) throws {
    report.jobs += 1
    guard let state = job.state else {
      return add(job, "is in an unknown state: \(job.string(.state) ?? "none")")
    }
    if !job.isInPlace { add(job, "is not indexed under its state, \(state)") }
    checkClaim(job, state)
    checkEnd(job, state)
    checkUniqueKey(job, state)
    noteLimit(job, state)
    try checkGroup(of: job, state)
  }

  private mutating func checkClaim(_ job: JobRecord, _ state: JobState) {
    guard state == .running else {
      if let epoch = job.epoch { add(job, "is \(state), and under a claim of runner \(epoch)") }
      if job.isCancelled { add(job, "is \(state), and its cancellation is still requested") }
      return
    }
    if job.claims < 1 || job.startedAt == nil { add(job, "runs, and was never claimed") }
    guard let epoch = job.epoch else { return add(job, "runs, and no runner has it") }
    runningUnder[epoch, default: 0] += 1
    if runners[epoch] == nil { add(job, "runs under runner \(epoch), which is not registered") }
  }

  private mutating func checkEnd(_ job: JobRecord, _ state: JobState) {
    if state.isFinished != (job.finishedAt != nil) {
      add(job, "is \(state), and has \(job.finishedAt == nil ? "no" : "a") time of its end")
    }
    if state.isFinished, job.checkpoint != nil { add(job, "is \(state), and keeps a checkpoint") }
  }

  private mutating func checkUniqueKey(_ job: JobRecord, _ state: JobState) {
    guard job.uniqueKey != nil else { return }
    let mayHold =
      switch job.uniqueUntil {
      case .untilStarted: !state.isFinished && state != .running
      case .untilFinished: !state.isFinished
      case .untilRemoved: true
      case nil: false
      }
    if !mayHold { add(job, "is \(state), and still holds its unique key") }
  }

  // MARK: Limits

  private func heldKeys() throws -> Set<String> {
    var keys: Set<String> = []
    var last: Value?
    while let number = try rows.cursor(.held, beyond: last).next() {
      let job = try rows.job(ofTurn: number)
      last = job.string(.place).map(Value.string) ?? .null
      if let key = job.limitKey { keys.insert(key) }
    }
    return keys
  }

  private mutating func noteLimit(_ job: JobRecord, _ state: JobState) {
    guard let key = job.limitKey else {
      if state == .held { add(job, "waits for a limit, and has none") }
      return
    }
    if state == .ready || state == .running { keysWaitedFor.remove(key) }
    guard state == .running else { return }
    let known = inUse[key] ?? (0, 0)
    inUse[key] = (known.running + 1, max(known.max, job.limitMax))
  }

  private mutating func checkLimits() {
    for (key, use) in inUse.sorted(by: { $0.key < $1.key }) where use.running > use.max {
      report.add("limit \(key): \(use.running) jobs run, and \(use.max) may")
    }
    for key in keysWaitedFor.sorted() {
      report.add("limit \(key): jobs wait for it, and none runs or is ready")
    }
  }

  // MARK: Remarks

  private mutating func remark() throws {
    for runner in runners.values.sorted(by: { $0.epoch < $1.epoch }) where !runner.isAlive {
      let jobs = runningUnder[runner.epoch] ?? 0
      report.remark(
        "runner \(runner.epoch) (\(runner.command), pid \(runner.process)) is dead; "
          + (jobs == 0 ? "it has no jobs" : "the next runner takes over its jobs: \(jobs)"))
    }
    let served = Array(runners.values).kindsServed
    guard runners.values.contains(where: \.claimsJobs) else { return }
    try rows.eachLane(.ready) { job in
      if !served.contains(job.kind.rawValue) {
        report.remark("jobs of \(job.kind) wait in \(job.queue), and no runner knows the kind")
      }
      return true
    }
  }

  mutating func add(_ job: JobRecord, _ text: String) { report.add("job \(job.id) \(text)") }
}

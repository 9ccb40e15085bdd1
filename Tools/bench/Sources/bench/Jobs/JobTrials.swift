import Foundation
import Mooring

/// The measurements of Mooring's jobs that need several processes or a pause. The other queues have
/// none of them.
struct JobTrials {
  let scratch: ScratchFolder
  let plan: JobPlan

  func run(into results: inout Measurements) async throws {
    try await startsAcrossProcesses(&results)
    try await rescue(&results)
    try await pause(&results)
    try await idle(&results)
  }

  /// Measures the time from the return of an enqueue until another process starts the job.
  private func startsAcrossProcesses(_ results: inout Measurements) async throws {
    let folder = try scratch.emptyFolder("across")
    let queue = JobQueue(try Store.openForJobs(in: folder))
    let worker = try WorkerProcess(in: folder)
    var starts = worker.starts.makeAsyncIterator()
    var waits: [Double] = []
    for number in 0...plan.starts {
      // The worker finishes the last job and waits again.
      try await Task.sleep(for: .milliseconds(20))
      try await queue.enqueue(BenchJob.sample)
      let returned = uptime()
      guard let start = await starts.next() else { throw died() }
      // The first job waits for the start of the process.
      if number > 0 { waits.append((Double(start) - Double(returned)) / 1e6) }
    }
    try worker.stop()
    if let median = Summary(waits)?.median {
      results.add(median, to: .startAcrossProcesses, of: .mooring)
    }
  }

  /// Measures the time from the death of a worker until another one runs all of its jobs.
  private func rescue(_ results: inout Measurements) async throws {
    for round in 0..<plan.rounds {
      let folder = try scratch.emptyFolder("rescue")
      let (first, second) = try await workers(in: folder, busy: plan.producers)
      // Workers check each other once a second. Each round kills at another moment of that second.
      try await Task.sleep(for: .seconds(1) * (Double(round) / Double(plan.rounds)))
      let killed = uptime()
      first.send(SIGKILL)
      var last = killed
      var starts = second.starts.makeAsyncIterator()
      for _ in 0..<plan.producers {
        guard let start = await starts.next() else { throw died() }
        last = start
      }
      results.add(Double(last - killed) / 1e9, to: .rescue, of: .mooring)
      try first.stop()
      try second.stop()
    }
  }

  /// Counts the jobs that are taken from a stopped worker.
  private func pause(_ results: inout Measurements) async throws {
    let folder = try scratch.emptyFolder("pause")
    let (first, second) = try await workers(in: folder, busy: plan.producers)
    first.send(SIGSTOP)
    try await Task.sleep(for: plan.pause)
    let store = try Store.openForJobs(in: folder)
    let rescued = try store.read { try $0.count(of: "_JobAttempt") }
    first.send(SIGCONT)
    results.add(Double(rescued), to: .rescuesOfPaused, of: .mooring)
    try first.stop()
    try second.stop()
  }

  /// Starts two workers that know of each other. The first one runs `busy` jobs that do not end.
  private func workers(
    in folder: URL, busy: Int
  ) async throws -> (first: WorkerProcess, second: WorkerProcess) {
    let queue = JobQueue(try Store.openForJobs(in: folder))
    let first = try WorkerProcess(in: folder, concurrency: busy, holds: true)
    var starts = first.starts.makeAsyncIterator()
    try await queue.store.write { transaction in
      for _ in 0..<busy { try transaction.enqueue(BenchJob.sample) }
    }
    for _ in 0..<busy {
      guard await starts.next() != nil else { throw died() }
    }
    let second = try WorkerProcess(in: folder, concurrency: busy, holds: true)
    while try queue.runners().count < 2 { try await Task.sleep(for: .milliseconds(10)) }
    try await Task.sleep(for: .seconds(1))
    return (first, second)
  }

  /// Measures a worker that has finished all jobs.
  private func idle(_ results: inout Measurements) async throws {
    let folder = try scratch.emptyFolder("idle")
    let queue = JobQueue(try Store.openForJobs(in: folder))
    let worker = try WorkerProcess(in: folder)
    var starts = worker.starts.makeAsyncIterator()
    for _ in 0..<plan.starts { try await queue.enqueue(BenchJob.sample) }
    for _ in 0..<plan.starts {
      guard await starts.next() != nil else { throw died() }
    }
    try await Task.sleep(for: plan.rest)
    results.add(
      try await wakeupsPerSecond(of: worker.id, during: plan.pause), to: .idleSwitches,
      of: .mooring)
    results.add(try residentMegabytes(of: worker.id), to: .idleMemory, of: .mooring)
    try worker.stop()
  }

  private func died() -> BenchError { BenchError(.candidate, "a worker of Mooring ended early") }
}

/// Returns how often the threads of a process begin to wait in a second, on average over a time.
func wakeupsPerSecond(of process: pid_t, during time: Duration) async throws -> Double {
  let before = try contextSwitches(of: process)
  try await Task.sleep(for: time)
  let after = try contextSwitches(of: process)
  let switches = after.reduce(0) { $0 + $1.value - (before[$1.key] ?? 0) }
  return Double(switches) / time.seconds
}

/// Returns how often each thread of a process has begun to wait. Preemptions do not count, because
/// nothing wakes a preempted thread.
private func contextSwitches(of process: pid_t) throws -> [String: Int] {
  let tasks = "/proc/\(process)/task"
  var switches: [String: Int] = [:]
  for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
    let status = try procStatus("\(tasks)/\(task)/status")
    switches[task] = status["voluntary_ctxt_switches"] ?? 0
  }
  return switches
}

private func residentMegabytes(of process: pid_t) throws -> Double {
  Double(try procStatus("/proc/\(process)/status")["VmRSS"] ?? 0) / 1024
}

/// Returns the numbers in a `status` file of `/proc`.
private func procStatus(_ path: String) throws -> [String: Int] {
  let text = try String(contentsOfFile: path, encoding: .utf8)
  var numbers: [String: Int] = [:]
  for line in text.split(separator: "\n") {
    let words = line.split { $0 == ":" || $0 == "\t" || $0 == " " }
    if words.count > 1, let number = Int(words[1]) { numbers[String(words[0])] = number }
  }
  return numbers
}

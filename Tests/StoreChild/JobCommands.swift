import DurableJobs
import EntityModel
import EntityStore
import Foundation
import Glibc
import LMDB
import Migrations
import SystemSupport
import TestSupport

/// Commands on a store with jobs: `jobs-… FOLDER NAME=VALUE…`.
///
/// - Returns: `false` if the command is not one of them.
func runJobCommand(_ arguments: [String]) async throws -> Bool {
  guard arguments.count >= 2, arguments[0].hasPrefix("jobs-") else { return false }
  let settings = JobSettings(folder: arguments[1], arguments.dropFirst(2))
  switch arguments[0] {
  case "jobs-enqueue": try await enqueue(settings)
  case "jobs-run": try await run(settings)
  case "jobs-pool": try await runBesideFullPool(settings)
  case "jobs-soak": try await soak(settings)
  default: return false
  }
  return true
}

private struct JobSettings: Sendable {
  let folder: String
  private var values: [String: String] = [:]

  init(folder: String, _ arguments: ArraySlice<String>) {
    self.folder = folder
    for argument in arguments {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      if parts.count == 2 { values[parts[0]] = parts[1] }
    }
  }

  func text(_ name: String) -> String { values[name] ?? "" }

  func number(_ name: String, or usual: Int) -> Int {
    values[name].flatMap { Int($0) } ?? usual
  }

  func open() throws -> Store {
    var options = Store.Options()
    options.mapSize = 1 << 30
    options.flushesCommits = number("flush", or: 0) == 1
    options.now = { QuickTime.now }
    return try openFollowing(folder, [.model, .jobs], &options)
  }
}

// MARK: Enqueuing

/// Enqueues jobs one after another, and prints each number after its commit.
private func enqueue(_ settings: JobSettings) async throws {
  let queue = JobQueue(try settings.open())
  for number in settings.number("from", or: 0)..<settings.number("to", or: 0) {
    let kind: JobKind = number % 3 == 0 ? Stepwise.kind : Effect.kind
    var request = JobRequest(kind: kind, payload: Data("{\"number\":\(number)}".utf8))
    // Any number of deaths is none of these jobs' fault.
    request.rescuesMax = 1_000_000
    request.priority = number % 5
    request.queue = number % 4 == 0 ? "other" : .default
    // One that was killed has said nothing of its last commit.
    request.uniqueKey = "\(number)"
    request.uniqueness = .untilRemoved
    if number % 7 == 0 { request.limit = JobLimit("seven", max: 1) }
    _ = try await queue.enqueue(request)
    say("enqueued \(number)")
  }
  say("done")
}

// MARK: Running

/// Runs jobs until SIGTERM, with a line for the end of each. Lines of input change what the process
/// may do.
private func run(_ settings: JobSettings) async throws {
  let path = settings.text("runs")
  let locks = try RunLocks(path.isEmpty ? settings.folder + ".runs" : path)
  let store = try settings.open()
  var options = RunnerOptions()
  options.concurrency = settings.number("slots", or: 4)
  let stopping = Countdown(after: settings.number("ends", or: 0))
  options.onEnd = { end in
    say("end \(end.job) \(end.state?.rawValue ?? "lost") \(end.attempt)")
    stopping.count()
  }
  options.onCondition = { condition in
    switch condition {
    case .working: say("working")
    case .blocked: say("blocked")
    case .stuck(let count): say("stuck \(count)")
    }
  }
  let point = KillPoint(settings.text("kill"), after: settings.number("after", or: 0))
  let runner = JobRunner(store, childHandlers(locks, point), options: options)
  stopping.onLast { Task { await runner.stop(within: .seconds(60)) } }
  let queue = DispatchQueue(label: "child")
  let term = DispatchSource.makeSignalSource(signal: SIGTERM, queue: queue)
  term.setEventHandler {
    Task { await runner.stop(within: .milliseconds(settings.number("bound", or: 50))) }
  }
  term.activate()
  // Time goes faster than the alarm knows.
  let ticks = DispatchSource.makeTimerSource(queue: queue)
  ticks.schedule(deadline: .now(), repeating: .milliseconds(20))
  ticks.setEventHandler { runner.wake() }
  ticks.activate()
  Thread.detachNewThread { obeyLines() }
  say("ready")
  try await runner.run()
  term.cancel()
  ticks.cancel()
  say("stopped")
}

private func childHandlers(_ locks: RunLocks, _ point: KillPoint) -> JobHandlers {
  var handlers = JobHandlers()
  handlers.handle(Effect.self) { job, context in
    try await locks.during(Int(context.id.rawValue)) {
      try await effect(job.number, context, point)
    }
  }
  handlers.handle(Stepwise.self) { job, context in
    try await locks.during(Int(context.id.rawValue)) {
      for step in (try context.checkpoint(as: Int.self) ?? 0)..<4 {
        context.report(done: Int64(step), of: 4)
        // So that kills come between two steps, too; nothing waits for it.
        try await Task.sleep(for: .milliseconds(2))
        try await context.write(checkpoint: step + 1) { transaction in
          try transaction.insert("Sample", ["name": .string("step \(job.number) \(step)")])
        }
      }
      return try await effect(job.number, context, point)
    }
  }
  handlers.handle(Poison.self) { _, _ in
    kill(getpid(), SIGKILL)
    return NoOutput()
  }
  handlers.handle(Climber.self) { job, context in
    let height = try context.checkpoint(as: Int.self) ?? 0
    if height == 6 { return try await effect(job.number, context, point) }
    try await context.write(checkpoint: height + 1) { _ in }
    kill(getpid(), SIGKILL)
    return NoOutput()
  }
  handlers.handle(Waiting.self) { job, context in
    try await locks.during(Int(context.id.rawValue)) {
      say("waiting \(job.number)")
      let commits = try context.store.commits.observe()
      var seen = 0
      while try context.store.read({ try $0.get("Sample", by: ["name": "go"]) }) == nil {
        seen = try await commits.next(after: seen)
      }
      return try await effect(job.number, context, point)
    }
  }
  return handlers
}

/// The record that the store must contain exactly once for each job.
private func effect(
  _ number: Int, _ context: JobContext, _ point: KillPoint
) async throws -> NoOutput {
  point.reach("before")
  let output = try await context.complete { transaction in
    try transaction.insert("Sample", ["name": .string("effect \(number)")])
    point.reach("inside")
    return NoOutput()
  }
  point.reach("after")
  return output
}

private struct Effect: Job {
  static let kind: JobKind = "effect"
  let number: Int
}

/// Writes its steps one after another, and resumes at its checkpoint.
private struct Stepwise: Job {
  static let kind: JobKind = "stepwise"
  let number: Int
}

/// Kills its process.
private struct Poison: Job {
  static let kind: JobKind = "poison"
  let number: Int
}

/// Kills its process as well, but makes some progress each time.
private struct Climber: Job {
  static let kind: JobKind = "climber"
  let number: Int
}

/// Waits until there is a record `go`.
private struct Waiting: Job {
  static let kind: JobKind = "waiting"
  let number: Int
}

/// Where the process kills itself, when it has come there so often.
private final class KillPoint: Sendable {
  private let name: String
  private let left: Locked<Int>

  init(_ name: String, after times: Int) {
    self.name = name
    left = Locked(times)
  }

  func reach(_ name: String) {
    guard name == self.name else { return }
    let isDue = left.withLock { left in
      left -= 1
      return left == 0
    }
    if isDue { kill(getpid(), SIGKILL) }
  }
}

/// Calls a closure after a number of events.
private final class Countdown: Sendable {
  private let left: Locked<Int>
  private let action = Locked<(@Sendable () -> Void)?>(nil)

  init(after times: Int) { left = Locked(times) }

  func onLast(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

  func count() {
    let isLast = left.withLock { left in
      left -= 1
      return left == 0
    }
    if isLast { action.withLock { $0 }?() }
  }
}

// MARK: Trouble

/// `files`: no file can be opened any more. `pages`: none can be written. `room`: they can again.
/// `crowd`: blocks more of Dispatch's shared workers than there may be.
private func obeyLines() {
  var usual: [Int32: rlimit] = [:]
  let isFull = Locked(false)
  while let line = readLine() {
    switch line {
    case "files":
      let highest = (0..<Int32(1_024)).last { fcntl($0, F_GETFD) >= 0 } ?? 0
      limit(Int32(RLIMIT_NOFILE.rawValue), to: Int(highest) + 1, &usual)
      isFull.withLock { $0 = true }
      _ = takeDescriptors()
      // A file that the runner had open just now leaves another one free when it is closed.
      Thread.detachNewThread {
        while isFull.withLock({ $0 && takeDescriptors() }) { usleep(1_000) }
      }
    case "crowd":
      for _ in 0..<600 { DispatchQueue.global().async { blockForever() } }
    case "pages": limit(Int32(RLIMIT_FSIZE.rawValue), to: 4_096, &usual)
    default:
      isFull.withLock { $0 = false }
      for (resource, old) in usual {
        var old = old
        setrlimit(__rlimit_resource_t(UInt32(resource)), &old)
      }
    }
    say("done \(line)")
  }
}

/// Takes all descriptors below the limit, and returns true.
private func takeDescriptors() -> Bool {
  while open("/dev/null", O_RDONLY) >= 0 {}
  return true
}

/// Takes the thread for as long as the process lives.
private func blockForever() { DispatchSemaphore(value: 0).wait() }

private func limit(_ resource: Int32, to bound: Int, _ usual: inout [Int32: rlimit]) {
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(UInt32(resource)), &limit)
  if usual[resource] == nil { usual[resource] = limit }
  limit.rlim_cur = rlim_t(bound)
  setrlimit(__rlimit_resource_t(UInt32(resource)), &limit)
}

/// Blocks every thread of the cooperative pool, and those that Dispatch adds, while a runner runs a
/// blocking handler.
private func runBesideFullPool(_ settings: JobSettings) async throws {
  let store = try settings.open()
  var handlers = JobHandlers()
  handlers.handleBlocking(Effect.self) { job, _ in
    say("ran \(job.number)")
    return NoOutput()
  }
  let runner = JobRunner(store, handlers)
  let run = Task { try await runner.run() }
  let commits = try store.commits.observe()
  var seen = 0
  while try JobQueue(store).runners().isEmpty { seen = try await commits.next(after: seen) }
  for _ in 0..<600 {
    Task.detached { blockForever() }
  }
  // This thread is one of the pool's, and it stays.
  block(until: "end")
  run.cancel()
}

private func block(until end: String) {
  say("full")
  while let line = readLine(), line != end {}
  exit(0)
}

// MARK: Soak

/// Enqueues, runs and prunes in a loop, and prints the memory (KiB), threads and descriptors of the
/// process at the ends of the first and the last third.
private func soak(_ settings: JobSettings) async throws {
  let store = try settings.open()
  let queue = JobQueue(store)
  var handlers = JobHandlers()
  handlers.handle(Effect.self) { job, context in
    context.report(done: 1, of: 2)
    if job.number % 7 == 3, context.attempt == 1 { throw JobStop.retry(after: .zero, because: "3") }
    return NoOutput()
  }
  handlers.handleBlocking(Stepwise.self) { _, _ in NoOutput() }
  let runner = JobRunner(store, handlers)
  let run = Task { try await runner.run() }
  let clock = ContinuousClock()
  let third = Duration.seconds(settings.number("seconds", or: 15)) / 3
  var samples: [String] = []
  var number = 0
  for part in 1...3 {
    let end = clock.now + third
    repeat {
      var last: JobID?
      for _ in 0..<20 {
        let kind = number % 2 == 0 ? Effect.kind : Stepwise.kind
        var request = JobRequest(kind: kind, payload: Data("{\"number\":\(number)}".utf8))
        request.retention = .zero
        request.limit = number % 5 == 0 ? JobLimit("five", max: 1) : nil
        last = try await queue.enqueue(request).id
        number += 1
      }
      if let last {
        for try await status in queue.updates(of: last) where status.state.isFinished { break }
      }
      try await queue.prune()
    } while clock.now < end
    if part != 2 { samples.append("\(ownMemory()) \(threads()) \(descriptors())") }
  }
  await runner.stop(within: .seconds(60))
  try await run.value
  try await queue.prune()
  let left = try store.read { try $0.count(of: "_Job") }
  say("soaked \(number) \(left) \(samples.joined(separator: " "))")
}

private func threads() -> Int { entries(of: "/proc/self/task") }
private func descriptors() -> Int { entries(of: "/proc/self/fd") }

private func entries(of folder: String) -> Int {
  do {
    return try FileManager.default.contentsOfDirectory(atPath: folder).count
  } catch {
    say("error: \(error)")
    return -1
  }
}

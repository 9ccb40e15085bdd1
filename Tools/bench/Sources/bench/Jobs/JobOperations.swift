// The operations of `bench jobs`.
extension Operation {
  static let enqueueOne = Operation("enqueue, 1 producer", "jobs/s", .higher, .twoFlushes)
  static let enqueueAwaited = Operation("  awaited by a task", "jobs/s", .higher)
  static let enqueueMany = Operation("enqueue, 64 producers", "jobs/s", .higher, .notSlower)
  static let enqueueHundred = Operation("enqueue, 100 per commit", "jobs/s", .higher, .notSlower)
  static let enqueueHundredValues = Operation(
    "enqueue, 100 Swift values per commit", "jobs/s", .higher)
  static let claim = Operation("claim 128 per commit", "jobs/s", .higher, .notSlower)
  static let finish = Operation("finish 128 per commit", "jobs/s", .higher, .notSlower)
  static let live = Operation("enqueue by 64, claim and finish 1", "jobs/s", .higher, .notSlower)
  static let liveBatched = Operation(
    "enqueue by 64, claim and finish 128", "jobs/s", .higher, .notSlower)
  static let startAfterCall = Operation("call of enqueue to start, p50", "ms", .lower, .twoFlushes)
  static let startAfterReturn = Operation(
    "return of enqueue to start, p50", "ms", .lower, .notSlower)
  static let startAcrossProcesses = Operation("return of enqueue to start elsewhere, p50", "ms")
  static let rescue = Operation("SIGKILL of a worker until its 64 jobs run again", "s")
  static let rescuesOfPaused = Operation("jobs taken from a worker after SIGSTOP", "jobs")
  static let idleSwitches = Operation("idle worker, wakeups of a thread", "per s")
  static let idleMemory = Operation("idle worker, resident memory", "MB")
  static let claimOneOfFew = Operation("claim 1 among few jobs", "ms")
  static let claimOneOfMany = Operation("claim 1 among many jobs", "ms")
  static let claimBatchOfFew = Operation("claim 128 among few jobs", "ms")
  static let claimBatchOfMany = Operation("claim 128 among many jobs", "ms")
}

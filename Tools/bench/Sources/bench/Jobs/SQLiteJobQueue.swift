import CSQLiteQueue
import Foundation

/// A queue in a table of SQLite. `sqlite_queue.h` describes how it works.
struct SQLiteJobQueue: BlockingJobQueue {
  struct Claim: Hashable {
    fileprivate let raw: sqlite_job_claim

    static func == (left: Claim, right: Claim) -> Bool {
      left.raw.id == right.raw.id && left.raw.claim == right.raw.claim
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(raw.id)
      hasher.combine(raw.claim)
    }
  }

  // SAFETY: the C functions may be called from any thread until `close`.
  nonisolated(unsafe) private let queue: OpaquePointer

  init(in folder: URL) throws {
    var opened: OpaquePointer?
    try Self.check(sqlite_queue_open(folder.appending(path: "jobs.sqlite").path, &opened))
    guard let opened else { throw BenchError(.candidate, "SQLite: nothing was opened") }
    queue = opened
  }

  func close() { sqlite_queue_close(queue) }

  func enqueue(_ count: Int) throws {
    var payload = jobPayload
    try Self.check(
      payload.withUTF8 { utf8 in
        guard let bytes = utf8.baseAddress else { return EINVAL }
        return sqlite_queue_enqueue(queue, count, Int64(microsecondsNow()), bytes, utf8.count)
      })
  }

  func claim(_ limit: Int) throws -> [Claim] {
    let now = Int64(microsecondsNow())
    return try [sqlite_job_claim](unsafeUninitializedCapacity: limit) { buffer, count in
      // SAFETY: the buffer has room for `limit` and C fills the first `count`.
      guard let first = buffer.baseAddress else { return }
      try Self.check(sqlite_queue_claim(queue, limit, now, first, &count))
    }.map(Claim.init)
  }

  func finish(_ claims: [Claim]) throws -> Int {
    let raw = claims.map(\.raw)
    var finished = 0
    try Self.check(
      sqlite_queue_finish(queue, raw, raw.count, Int64(microsecondsNow()), &finished))
    return finished
  }

  func count(_ state: BlockingJobState) throws -> Int {
    var count = 0
    try Self.check(sqlite_queue_count(queue, state.raw, &count))
    return count
  }

  private static func check(_ code: Int32) throws {
    guard code != 0 else { return }
    throw BenchError(.candidate, "SQLite: \(String(cString: sqlite_queue_error(code)))")
  }
}

extension BlockingJobState {
  fileprivate var raw: sqlite_job_state {
    switch self {
    case .ready: sqlite_job_ready
    case .running: sqlite_job_running
    case .finished: sqlite_job_finished
    }
  }
}

import CRawLMDB
import Foundation

/// A queue in LMDB, implemented in C: the lower bound of what a queue costs.
struct RawJobQueue: BlockingJobQueue {
  /// The bytes that Mooring writes for this payload, in its record and in its entry in the index of
  /// turns: the means of a job that is ready (332 and 51), runs (321 and 38), has succeeded (323
  /// and 40).
  static let sizes = raw_jobs_sizes(record: 325, turn: 43)

  struct Claim: Hashable {
    fileprivate let raw: raw_job_claim

    static func == (left: Claim, right: Claim) -> Bool {
      left.raw.id == right.raw.id && left.raw.claim == right.raw.claim
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(raw.id)
      hasher.combine(raw.claim)
    }
  }

  // SAFETY: the C functions may be called from any thread until `close`.
  nonisolated(unsafe) private let jobs: OpaquePointer

  init(in folder: URL) throws {
    var opened: OpaquePointer?
    try Self.check(raw_jobs_open(folder.path, Self.sizes, &opened))
    guard let opened else { throw BenchError(.candidate, "raw C: nothing was opened") }
    jobs = opened
  }

  func close() { raw_jobs_close(jobs) }

  func enqueue(_ count: Int) throws {
    var payload = jobPayload
    try Self.check(
      payload.withUTF8 { utf8 in
        guard let bytes = utf8.baseAddress else { return EINVAL }
        return raw_jobs_enqueue(jobs, count, UInt64(microsecondsNow()), bytes, utf8.count)
      })
  }

  func claim(_ limit: Int) throws -> [Claim] {
    let now = UInt64(microsecondsNow())
    return try [raw_job_claim](unsafeUninitializedCapacity: limit) { buffer, count in
      // SAFETY: the buffer has room for `limit` and C fills the first `count`.
      guard let first = buffer.baseAddress else { return }
      try Self.check(raw_jobs_claim(jobs, limit, now, first, &count))
    }.map(Claim.init)
  }

  func finish(_ claims: [Claim]) throws -> Int {
    let raw = claims.map(\.raw)
    var finished = 0
    try Self.check(
      raw_jobs_finish(jobs, raw, raw.count, UInt64(microsecondsNow()), &finished))
    return finished
  }

  func count(_ state: BlockingJobState) throws -> Int {
    var count = 0
    try Self.check(raw_jobs_count(jobs, state.raw, &count))
    return count
  }

  private static func check(_ code: Int32) throws {
    guard code != 0 else { return }
    throw BenchError(.candidate, "raw C: \(String(cString: raw_error(code)))")
  }
}

extension BlockingJobState {
  fileprivate var raw: raw_job_state {
    switch self {
    case .ready: raw_job_ready
    case .running: raw_job_running
    case .finished: raw_job_finished
    }
  }
}

/// Returns the microseconds since 1970.
func microsecondsNow() -> Int { Int(Date().timeIntervalSince1970 * 1e6) }

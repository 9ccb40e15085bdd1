import Foundation

/// A queue of durable jobs. Calls come one after another, except that `enqueue` may be called
/// during `run`. Each change is flushed to the disk before its method returns.
protocol JobCandidate: AnyObject, Sendable {
  var name: CandidateName { get }

  /// Creates an empty queue in an existing, empty folder.
  func open(in folder: URL) async throws
  /// Releases the queue. It may be opened again.
  func close() async throws

  /// Enqueues jobs. Each producer waits for the commit of its jobs before it enqueues the next
  /// ones: a thread enqueues `perCommit` at a time, a task one.
  func enqueue(_ jobs: Int, perCommit: Int, by producers: Producers) async throws

  /// Enqueues one job.
  ///
  /// - Returns: The times at which the queue was called and at which it returned.
  func enqueueOne() async throws -> (
    called: ContinuousClock.Instant, returned: ContinuousClock.Instant
  )

  /// Claims and finishes `jobs` ready jobs, `batch` at a time, with one worker.
  ///
  /// - Throws: `mismatch` if fewer jobs are ready.
  func drain(_ jobs: Int, batch: Int) async throws -> JobDrain

  /// Runs one worker until it has finished `jobs`, including jobs that are enqueued concurrently.
  /// It claims up to `batch` jobs at a time and finishes them together.
  ///
  /// - Parameter started: The function that is called when the work of a job begins.
  func run(_ jobs: Int, batch: Int, started: @escaping @Sendable () -> Void) async throws

  /// Returns the number of jobs that were finished since `open`, according to the queue's files.
  func finished() async throws -> Int
}

extension CandidateName {
  /// The candidates that have a queue of jobs, in the order of their turns.
  static let queues: [CandidateName] = [.raw, .sqlite, .mooring]

  /// Creates the queue of the candidate; nil if it has none.
  func makeQueue() -> (any JobCandidate)? {
    switch self {
    case .raw: BlockingJobs<RawJobQueue>(.raw)
    case .sqlite: BlockingJobs<SQLiteJobQueue>(.sqlite)
    case .mooring: MooringJobs()
    case .grdb, .grdbCached: nil
    }
  }
}

/// The seconds that a drain took.
struct JobDrain {
  var claiming = 0.0
  var finishing = 0.0
}

/// The payload of each job: 74 bytes of JSON.
let jobPayload = #"{"episode":"ep:431902","url":"https://cdn.example.org/e/0123456789ab.mp4"}"#

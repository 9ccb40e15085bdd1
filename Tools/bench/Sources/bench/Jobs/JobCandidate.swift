import Foundation

/// One way to keep durable jobs. All calls but `enqueue` beside `run` come one after another; each
/// change is flushed to the disk when its caller gets to know of it.
protocol JobCandidate: AnyObject, Sendable {
  var name: CandidateName { get }

  /// Creates an empty queue in an existing, empty folder.
  func open(in folder: URL) async throws
  /// Releases the queue; `open` may follow.
  func close() async throws

  /// Adds jobs, `perCommit` at a time, by producers at once that each wait for what they have added
  /// before they add more. A producer is what callers of this queue have: a thread, or a task.
  func enqueue(_ jobs: Int, perCommit: Int, producers: Int) async throws

  /// Adds one job.
  ///
  /// - Returns: When the queue was called, and when it had returned to its caller.
  func enqueueOne() async throws -> (
    called: ContinuousClock.Instant, returned: ContinuousClock.Instant
  )

  /// Claims and finishes `jobs` that stand ready, `batch` at a time, as one worker that has nothing
  /// else to do.
  func drain(_ jobs: Int, batch: Int) async throws -> JobDrain

  /// Runs one worker until it has finished `jobs`, also those that are added meanwhile. It claims
  /// up to `batch` at a time and finishes together what it has claimed.
  ///
  /// - Parameter started: is called where the work of a job begins.
  func run(_ jobs: Int, batch: Int, started: @escaping @Sendable () -> Void) async throws

  /// How many jobs have been finished since `open`, as the queue's files tell.
  func finished() async throws -> Int
}

extension CandidateName {
  /// Those that keep jobs, in the order of their turns.
  static let queues: [CandidateName] = [.raw, .sqlite, .mooring]

  /// Nil for those that keep none.
  func makeQueue() -> (any JobCandidate)? {
    switch self {
    case .raw: BlockingJobs<RawJobQueue>(.raw)
    case .sqlite: BlockingJobs<SQLiteJobQueue>(.sqlite)
    case .mooring: MooringJobs()
    case .mooringView, .grdb, .grdbCached: nil
    }
  }
}

/// Seconds that a drain has spent.
struct JobDrain {
  var claiming = 0.0
  var finishing = 0.0
}

/// What each job carries: 74 bytes of JSON.
let jobPayload = #"{"episode":"ep:431902","url":"https://cdn.example.org/e/0123456789ab.mp4"}"#

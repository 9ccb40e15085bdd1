import ArgumentParser
import Foundation

/// One way to keep durable jobs. All calls but `enqueue` beside `run` come one after another; each
/// change is flushed to the disk when its caller gets to know of it.
protocol JobCandidate: AnyObject, Sendable {
  /// The column that it fills.
  var column: JobColumn { get }

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

  /// Runs one worker until it has finished `jobs`, also those that are added meanwhile. It claims up
  /// to `batch` at a time and finishes together what it has claimed.
  ///
  /// - Parameter started: is called where the work of a job begins.
  func run(_ jobs: Int, batch: Int, started: @escaping @Sendable () -> Void) async throws

  /// How many jobs have been finished since `open`, as the queue's files tell.
  func finished() async throws -> Int
}

enum JobColumn: String, CaseIterable, CustomStringConvertible, ExpressibleByArgument {
  case rawC = "raw-c"
  case sqlite, mooring

  static let names = allCases.map(\.rawValue).joined(separator: ", ")

  var description: String {
    switch self {
    case .rawC: "raw C"
    case .sqlite: "SQLite"
    case .mooring: "Mooring"
    }
  }

  func make() -> any JobCandidate {
    switch self {
    case .rawC: BlockingJobs<RawJobQueue>(.rawC)
    case .sqlite: BlockingJobs<SQLiteJobQueue>(.sqlite)
    case .mooring: MooringJobs()
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

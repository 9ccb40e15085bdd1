public import DurableJobs
public import EntityStore
public import Maintenance

/// Makes the store's file as small as its data (`Store.compact`).
///
/// Nobody may have the store open at that moment, and whoever runs jobs has. So the work is handed to a
/// `StoreCompaction`, such as a worker that does it between two openings of its own; a runner without
/// one discards the job.
public struct CompactStore: Job, Hashable {
  public typealias Output = CompactionReport
  public static let kind: JobKind = "store.compact"
  public static let policy = JobPolicy(queue: .maintenance, attemptsMax: 3)

  public init() {}

  public var uniqueKey: String? { "store" }
}

/// Compacts the store of a job, or throws a `JobStop`. What it has won it returns to the attempt that
/// has asked, or, if that has ended with the store's closing, to the next one.
public typealias StoreCompaction = @Sendable (JobContext) async throws -> CompactionReport

extension CompactStore {
  func run(_ context: JobContext, by compaction: StoreCompaction?) async throws -> CompactionReport
  {
    guard let compaction else {
      throw JobStop.discard(
        because: "this runner has the store open and cannot compact it; "
          + "run `mooring compact` while nobody else has, or let a worker do it")
    }
    do {
      return try await compaction(context)
    } catch {
      throw JobStop.verdict(on: error)
    }
  }
}

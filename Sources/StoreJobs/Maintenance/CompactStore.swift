public import DurableJobs
import EntityStore
public import Maintenance

/// Shrinks the store's file to the size of its data (`Store.compact`).
///
/// No process may have the store open then, but the process that runs the job has. A
/// `StoreCompaction` therefore does the work, such as that of a worker, which closes the store and
/// opens it again. A runner without one discards the job.
public struct CompactStore: Job, Hashable {
  public typealias Output = CompactionReport
  public static let kind: JobKind = "store.compact"
  public static let policy = JobPolicy(
    queue: .maintenance, attemptsMax: 3, isBoundToMachine: true)

  public init() {}

  public var uniqueKey: String? { "store" }
}

/// Compacts the store of a job, or throws a `JobStop`. The report is returned to the attempt that
/// has requested it or, if that attempt has ended when the store was closed, to the next one.
public typealias StoreCompaction = @Sendable (JobContext) async throws -> CompactionReport

extension CompactStore {
  func run(_ context: JobContext, by compaction: StoreCompaction?) async throws -> CompactionReport
  {
    guard let compaction else {
      throw JobStop.discard(
        because: "this runner has the store open and cannot compact it; "
          + "run `mooring compact` while no other process has it open, or let a worker do it")
    }
    do {
      return try await compaction(context)
    } catch {
      throw JobStop.verdict(on: error)
    }
  }
}

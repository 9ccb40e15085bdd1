public import DurableJobs
import EntityModel
import EntityStore

/// Removes what is kept for a time that is over: jobs that have ended, with their rows and attempts,
/// figures that are older than a week, and the progress of batches whose job is gone.
///
/// The history of the data prunes itself with each commit that adds to it.
public struct PruneStore: Job, Hashable {
  public static let kind: JobKind = "store.prune"
  public static let policy = JobPolicy(
    queue: .maintenance, attemptsMax: 3, retention: .seconds(86_400))

  public struct Output: Codable, Hashable, Sendable {
    public var jobs: Int
    /// Batches that were given up.
    public var batches: Int
  }

  public init() {}

  public var uniqueKey: String? { "store" }
}

extension PruneStore {
  func run(_ context: JobContext) async throws -> Output {
    let jobs = try await JobQueue(context.store).prune { context.report(done: Int64($0)) }
    let batches = try await context.write { try removeLeftovers(in: $0) }
    return Output(jobs: jobs, batches: batches)
  }

  /// Writes under way are few, so that they fit into one transaction.
  private func removeLeftovers(in transaction: WriteTransaction) throws -> Int {
    let writes = try transaction.fetch(
      FetchRequest(
        entityName: "_ChunkedWrite",
        predicate: .comparison("name", .beginsWith, .string("batch."))))
    var count = 0
    for write in writes {
      guard case .string(let name) = try write["name"], let job = BatchWork.job(ofWrite: name),
        try transaction.get(ObjectID(entity: "_Job", number: job.rawValue)) == nil
      else { continue }
      if try transaction.delete(write.id) { count += 1 }
    }
    return count
  }
}

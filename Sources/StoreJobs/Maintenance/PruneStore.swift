public import DurableJobs
import EntityModel
import EntityStore

/// Removes what has expired: ended jobs with their output and attempts, aggregates that are older
/// than a week, and the progress of batch requests whose job was removed.
///
/// The change history is pruned by the commits that add to it.
public struct PruneStore: Job, Hashable {
  public static let kind: JobKind = "store.prune"
  public static let policy = JobPolicy(
    queue: .maintenance, attemptsMax: 3, retention: .seconds(86_400))

  /// The jobs and batches that were removed.
  public struct Output: Codable, Hashable, Sendable {
    public var jobs: Int
    /// The number of batch requests whose progress was removed.
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

  /// Removes the progress of batch requests without a job, in one transaction: there are few.
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

import DurableJobs
import EntityModel
public import EntityObjects
import EntityStore

/// A batch request that runs as a job.
///
/// Its progress is stored under the job's number, so that each attempt continues where the last one
/// has stopped and changes nothing twice. This includes attempts after `JobQueue.retry` of a job
/// that was cancelled or discarded. The progress of an unfinished request is removed with the job
/// (`PruneStore`).
struct BatchWork {
  let context: JobContext
  let entity: String
  let without: [BatchOption]
  let author: String

  /// - Parameter execute: Runs the request with these options and reports its progress.
  func run(
    _ execute:
      @escaping @Sendable (
        BatchRequestOptions, _ progress: @escaping @Sendable (BatchProgress) -> Void
      ) async throws -> BatchResult
  ) async throws -> BatchReport {
    let name = BatchWork.name(of: context.id)
    var options = BatchRequestOptions(without: Set(without), author: author, name: name)
    // After a kill between the last commit of the request and the end of the job, the next attempt
    // must not begin again.
    options.keepsProgress = true
    do {
      try requireOwnEntity()
      let result = try await context.withCheckpoints { [context, options] committed in
        try await execute(options) { progress in
          context.report(done: progress.done, of: progress.total)
          committed(progress.done)
        }
      }
      let report = BatchReport(result)
      let kind = String(context.kind.rawValue.dropFirst("batch.".count))
      return try await context.complete { transaction in
        try BatchRequestOptions.dropProgress(ofBatch: kind, named: name, in: transaction)
        return report
      }
    } catch {
      throw JobStop.verdict(on: error)
    }
  }

  private func requireOwnEntity() throws {
    let description = try context.store.read { try $0.description(of: entity) }
    guard !description.isSystem else {
      throw JobStop.discard(
        because: "\(entity) belongs to the store itself, which keeps its records")
    }
  }

  /// The name under which the store keeps the progress of the request.
  static func name(of job: JobID) -> String { "job \(job)" }

  /// The job in the name of a chunked write, such as `batch.update:job 12`.
  static func job(ofWrite name: String) -> JobID? {
    let parts = name.split(separator: ":", maxSplits: 1)
    guard parts.count == 2, parts[0].hasPrefix("batch."), parts[1].hasPrefix("job ") else {
      return nil
    }
    return Int64(parts[1].dropFirst(4)).map(JobID.init(rawValue:))
  }
}

/// The result of a batch request that ran as a job, including that of interrupted attempts.
public struct BatchReport: Codable, Hashable, Sendable {
  public var counts: BatchResult.Counts
  /// True if it has continued an interrupted attempt.
  public var isResumed: Bool
  /// The errors of the first refused items, one line each.
  public var errors: [String]

  init(_ result: BatchResult) {
    counts = result.counts
    isResumed = result.isResumed
    errors = result.errors.prefix(Limits.problemsListedMax).map(\.description)
  }
}

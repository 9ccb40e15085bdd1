import DurableJobs
import EntityModel
import EntityObjects
import EntityStore

/// A batch request that runs as a job.
///
/// Its progress is kept under the job's number, so that each attempt goes on where the one before it has
/// stopped, and changes nothing twice: also one that is made by hand (`JobQueue.retry`) after the job
/// was cancelled or given up. The record of an unfinished one is removed when the job is (`PruneStore`).
struct BatchWork {
  let context: JobContext
  let entity: String
  let without: [BatchOption]
  let author: String

  /// - Parameter execute: Runs the request with these options; tells how far it is.
  func run(
    _ execute:
      @escaping @Sendable (
        BatchRequestOptions, _ progress: @escaping @Sendable (BatchProgress) -> Void
      ) async throws -> BatchResult
  ) async throws -> BatchReport {
    let name = BatchWork.name(of: context.id)
    var options = BatchRequestOptions(without: Set(without), author: author, name: name)
    // A kill between the batch's last commit and the job's end must not let it begin anew.
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

  /// Under which the store keeps how far the batch has come.
  static func name(of job: JobID) -> String { "job \(job)" }

  /// The job of a chunked write, from its name, such as `batch.update:job 12`.
  static func job(ofWrite name: String) -> JobID? {
    let parts = name.split(separator: ":", maxSplits: 1)
    guard parts.count == 2, parts[0].hasPrefix("batch."), parts[1].hasPrefix("job ") else {
      return nil
    }
    return Int64(parts[1].dropFirst(4)).map(JobID.init(rawValue:))
  }
}

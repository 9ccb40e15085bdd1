public import DurableJobs
public import EntityModel
import EntityStore
import Foundation
import Logging

/// A fetch whose rows are stored with the job. Any process can enqueue it, run it, and read the
/// rows until the job is removed.
///
/// ```swift
/// let handle = try await queue.enqueue(DurableFetch(FetchRequest(entityName: "Episode")))
/// for try await row in try await handle.rows { print(row) }
/// ```
///
/// The columns are those of `mooring fetch`. Each record is stored as it is when its page is read.
/// At most 100,000 rows and 8 MiB of JSON are stored: a larger fetch is discarded; use
/// `ExportFetch` for it. An interrupted fetch begins again; a cancelled one leaves no rows.
public struct DurableFetch: Job, Hashable {
  public static let kind: JobKind = "fetch"
  public static let policy = JobPolicy(
    attemptsMax: 5, timeout: .seconds(3_600), retention: .seconds(86_400))

  /// The columns of the result, and the number of its rows.
  public struct Output: Codable, Hashable, Sendable {
    public var columns: [String]
    public var rows: Int
    public var pages: Int
  }

  public var request: FetchRequest

  public init(_ request: FetchRequest) { self.request = request }
}

extension DurableFetch {
  func run(_ context: JobContext) async throws -> Output {
    let stored = JobOutputPages(job: context.id)
    do {
      let pages = try RowPages(bounded, in: context.store)
      // Rows of an attempt that was interrupted.
      try await context.write { try stored.removeAll(in: $0) }
      var output = Output(columns: pages.titles, rows: 0, pages: 0)
      var bytes = 0
      try await pages.forEach { page in
        let data = try JSONEncoder().encode(page.rows)
        output.rows += page.rows.count
        bytes += data.count
        guard output.rows <= Limits.outputRowsMax, bytes <= Limits.outputBytesMax else {
          throw JobStop.discard(
            because: "the fetch has more than 100,000 rows or 8 MiB; narrow it, or export it")
        }
        let number = output.pages
        try await context.write { try stored.append(data, page: number, in: $0) }
        output.pages += 1
        context.report(done: Int64(page.done), of: Int64(page.total))
      }
      return output
    } catch {
      await removeRows(stored, context)
      throw JobStop.verdict(on: error)
    }
  }

  /// The request with a limit of one row more than can be stored, which shows that there are too
  /// many.
  private var bounded: FetchRequest {
    var request = request
    if request.resultType != .count, request.fetchLimit ?? .max > Limits.outputRowsMax {
      request.fetchLimit = Limits.outputRowsMax + 1
    }
    return request
  }

  private func removeRows(_ stored: JobOutputPages, _ context: JobContext) async {
    do {
      try await context.write { try stored.removeAll(in: $0) }
    } catch {
      // They are removed by the next attempt, or with the job.
      context.logger.debug("rows of a fetch stay", metadata: ["error": "\(error)"])
    }
  }
}

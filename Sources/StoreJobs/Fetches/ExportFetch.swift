public import DurableJobs
public import EntityModel
import EntityStore
import Foundation
import Logging
import SystemSupport
import TextFormats

/// Writes what a request gives to a file, as `mooring fetch --format` prints it.
///
/// The file is written beside its path (`PATH.job-12.partial`) and put there when it is whole, with mode
/// 0600; what stood there is replaced. Cancelled or failed, it leaves no file of its own; interrupted, it
/// begins anew. A record comes as it is when its page is read.
///
/// One export to a path at a time.
public struct ExportFetch: Job, Hashable {
  public static let kind: JobKind = "fetch.export"
  public static let policy = JobPolicy(attemptsMax: 5)

  public enum Format: String, Codable, Hashable, Sendable, CaseIterable {
    /// One JSON object on each line.
    case jsonl
    /// RFC 4180, with a line of titles.
    case csv
  }

  public struct Output: Codable, Hashable, Sendable {
    public var path: String
    public var rows: Int
    public var bytes: Int
  }

  public var request: FetchRequest
  /// On the machine of whoever runs the job, from the root.
  public var path: String
  public var format: Format

  public init(_ request: FetchRequest, to path: String, format: Format = .jsonl) {
    self.request = request
    self.path = path
    self.format = format
  }

  public var uniqueKey: String? { PathKey.of(path) }
}

extension ExportFetch {
  func run(_ context: JobContext, on threads: BoundedThreads) async throws -> Output {
    do {
      let pages = try RowPages(request, in: context.store)
      let file = try await threads.run { [path] in try ExportFile(path, job: context.id) }
      do {
        return try await write(pages, to: file, context, on: threads)
      } catch {
        await remove(file, context, on: threads)
        throw error
      }
    } catch let error as ExportFileError where error.isOfPath {
      throw JobStop.discard(because: "\(error)")
    } catch {
      throw JobStop.verdict(on: error)
    }
  }

  private func write(
    _ pages: RowPages, to file: ExportFile, _ context: JobContext, on threads: BoundedThreads
  ) async throws -> Output {
    var output = Output(path: path, rows: 0, bytes: 0)
    if format == .csv {
      let head = CSVRecord.text(pages.titles)
      output.bytes += try await threads.run { try file.write(head) }
    }
    try await pages.forEach { page in
      try context.checkCancellation()
      let text = page.rows.map { line(pages.titles, $0) }.joined()
      output.bytes += try await threads.run { try file.write(text) }
      output.rows += page.rows.count
      context.report(done: Int64(page.done), of: Int64(page.total))
    }
    try context.checkCancellation()
    try await threads.run { try file.finish() }
    return output
  }

  private func remove(
    _ file: ExportFile, _ context: JobContext, on threads: BoundedThreads
  ) async {
    do {
      try await threads.run { try file.remove() }
    } catch {
      // What the job has failed of is more telling.
      context.logger.warning("a part of a file stays", metadata: ["error": "\(error)"])
    }
  }

  private func line(_ titles: [String], _ row: [Value]) -> String {
    switch format {
    case .jsonl: JSONLiteral.object(titles, row.map(\.json)) + "\n"
    case .csv: CSVRecord.text(row.map(\.csvField))
    }
  }
}

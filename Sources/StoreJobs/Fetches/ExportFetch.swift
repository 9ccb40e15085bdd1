public import DurableJobs
public import EntityModel
import EntityStore
import Foundation
import Logging
import SystemSupport
import TextFormats

/// Writes the result of a fetch request to a file, in the formats of `mooring fetch --format`. At
/// most one export to a path is unfinished at a time.
///
/// The file is written as `PATH.job-12.partial` with mode 0600 and renamed when it is complete; an
/// existing file is replaced. A cancelled or failed export leaves no file; an interrupted one
/// begins again. Each record is exported as it is when its page is read.
public struct ExportFetch: Job, Hashable {
  public static let kind: JobKind = "fetch.export"
  public static let policy = JobPolicy(attemptsMax: 5, isBoundToMachine: true)

  /// The format of the file.
  public enum Format: String, Codable, Hashable, Sendable, CaseIterable {
    /// One JSON object on each line.
    case jsonl
    /// RFC 4180, with a header line, for spreadsheets: a text that they would take for a formula
    /// gets an apostrophe before it, and a control character becomes U+FFFD.
    case csv
    /// The same for programs: each text unchanged.
    case exactCSV = "csv-exact"
  }

  /// The file that was written, and its size.
  public struct Output: Codable, Hashable, Sendable {
    public var path: String
    public var rows: Int
    public var bytes: Int
  }

  public var request: FetchRequest
  /// An absolute path on the machine of the runner.
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
    if let head = head(pages.titles) {
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
      // The error of the job itself is thrown.
      context.logger.warning("a part of a file stays", metadata: ["error": "\(error)"])
    }
  }

  private func head(_ titles: [String]) -> String? {
    switch format {
    case .jsonl: nil
    case .csv: CSVRecord.text(titles, .spreadsheet)
    case .exactCSV: CSVRecord.text(titles, .exact)
    }
  }

  private func line(_ titles: [String], _ row: [Value]) -> String {
    switch format {
    case .jsonl: JSONLiteral.object(titles, row.map(\.json)) + "\n"
    case .csv: CSVRecord.text(row.map(\.csvField), .spreadsheet)
    case .exactCSV: CSVRecord.text(row.map(\.csvField), .exact)
    }
  }
}

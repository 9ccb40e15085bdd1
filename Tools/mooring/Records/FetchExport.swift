import ArgumentParser
import Console
import DurableJobs
import EntityModel
import EntityStore
import Foundation
import StoreJobs

/// `mooring fetch --export FILE`: a worker writes the rows to a file.
struct FetchExport: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Let a worker write the rows to a file, and follow that: as CSV for --format csv or "
        + "csv-exact or a name that ends in .csv, else as JSON Lines.", valueName: "file"),
    completion: .file())
  var export: String?
  @OptionGroup var job: DetachOptions

  func validate(_ format: OutputFormat, _ question: FetchOptions) throws {
    guard export != nil else {
      if job.detach { throw ValidationError("--detach needs a file: --export FILE") }
      return
    }
    if export?.isEmpty == true { throw ValidationError("--export: name a file") }
    if question.explain { throw ValidationError("--explain does not go with --export") }
    if question.limit == 0 { throw ValidationError("--limit 0 leaves nothing to export") }
    try format.require(.table, .jsonl, .csv, .exactCSV)
  }

  /// - Throws: The errors of `JobEnding.watch`, unless detached.
  func run(
    _ request: FetchRequest, to path: String, in queue: JobQueue, _ options: StoreOptions,
    _ format: OutputFormat
  ) async throws {
    let fileFormat: ExportFetch.Format =
      switch format {
      case .csv: .csv
      case .exactCSV: .exactCSV
      case .table where path.lowercased().hasSuffix(".csv"): .csv
      case .table, .json, .jsonl: .jsonl
      }
    let export = ExportFetch(request, to: URL(fileURLWithPath: path).path, format: fileFormat)
    if job.detach { return try await job.enqueue(export, in: queue.store, options, .table) }
    let enqueued = try await queue.enqueue(JobRequest(export))
    try options.warnIfNobodyRuns(ExportFetch.kind.rawValue, in: queue)
    try await JobEnding.watch(enqueued.id, in: queue, options, .table)
  }
}

import ArgumentParser
import Console
import DurableJobs
import EntityModel
import EntityStore

struct Fetch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Fetches records: filter, order, columns, groups. Reads only; uses no network.",
    discussion: """
      mooring fetch Episode --where 'progress > 0' --sort updatedAt:desc --limit 20
      mooring fetch Episode --select 'title,minutes=duration/60' --format csv
      mooring fetch Episode --group-by type --aggregate 'n=count:*,total=sum:duration'
      mooring fetch Episode --where 'type == "free"' --sort updatedAt:desc --explain

      Predicates are those of Core Data: == != < <= > >=, AND OR NOT, IN {1, 2}, BETWEEN {1, 2}, \
      CONTAINS BEGINSWITH ENDSWITH LIKE MATCHES with [cd], ANY and ALL, nil, DATE \
      "2026-01-31T00:00:00Z". A comparison with a missing value is never true; use == nil for it.

      All rows are from one snapshot. Rows are printed as they are found if an index has their \
      order. Complete records begin with their number in the store, "_id", as in mooring-dump. The \
      JSON of --explain has the keys entity, kinds, indexes, filter, sortBy, groupBy, limit, \
      offset, rejected and statistics.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The entity, such as Episode. A template has its own.", completion: .entity)
  var entity: String?
  @OptionGroup(title: "Request") var question: FetchOptions
  @OptionGroup(title: "Export") var export: FetchExport
  @Flag(help: "Compare each record that is read with its seal; damage ends the fetch with 65.")
  var verify = false
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.table

  func validate() throws {
    guard entity != nil || question.template != nil else {
      throw ValidationError("name the entity: mooring fetch Episode")
    }
    if question.explain { try format.require(.table, .json) }
    try export.validate(format, question)
    if verify, export.export != nil {
      throw ValidationError("--verify is for a fetch that prints; leave out --export")
    }
  }

  func run() async throws {
    let draft = try RequestDraft(question)
    if let path = export.export {
      let store = try options.jobsToWrite().store
      let request = try store.read { try checked(draft.request(for: entity, in: $0), draft, $0) }
      return try await export.run(request, to: path, in: JobQueue(store), options, format)
    }
    let store = try options.openToRead(verifies: verify)
    try store.read { transaction in
      try StandardOutput.with { output in
        let request = try draft.request(for: entity, in: transaction)
        do {
          try answer(request, transaction, &output)
        } catch let error as StoreError {
          throw try draft.placing(error, of: request, in: transaction)
        }
      }
    }
  }

  /// Checks that the store would accept the request, before a job is enqueued.
  private func checked(
    _ request: FetchRequest, _ draft: RequestDraft, _ transaction: ReadTransaction
  ) throws -> FetchRequest {
    do {
      _ = try transaction.explain(request.asRun)
      return request
    } catch let error as StoreError {
      throw try draft.placing(error, of: request, in: transaction)
    }
  }

  private func answer(
    _ request: FetchRequest, _ transaction: ReadTransaction, _ output: inout StandardOutput
  ) throws {
    if question.explain {
      let plan = try transaction.explain(request.asRun)
      if format == .json { return try output.write(try JSONText.of(plan) + "\n") }
      for line in "\(plan)".split(separator: "\n", omittingEmptySubsequences: false) {
        try output.write(String(line).singleLine + "\n")
      }
    } else if request.resultType == .count {
      let count = min(try transaction.count(request), question.limit ?? .max)
      try write(count, &output)
    } else if request.resultType == .identifiers {
      try writeIdentities(request, transaction, &output)
    } else {
      var rows = RowWriter(titles: request.propertiesToFetch.map(\.name), format: format)
      try eachRow(request, transaction) { try rows.write($0, &output) }
      try rows.end(&output)
    }
  }

  private func write(_ count: Int, _ output: inout StandardOutput) throws {
    switch format {
    case .table: try output.write("\(count)\n")
    case .json, .jsonl: try output.write(try JSONText.of(["count": count]) + "\n")
    case .csv, .exactCSV:
      try output.writeCSV(["count"], as: format)
      try output.writeCSV([String(count)], as: format)
    }
  }

  /// References come as bare lines, for the next command of a pipe.
  private func writeIdentities(
    _ request: FetchRequest, _ transaction: ReadTransaction, _ output: inout StandardOutput
  ) throws {
    var rows = RowWriter(titles: ["object", "url"], format: format)
    try eachRow(request, transaction) { row in
      guard case .int64(let number)? = row.first else { return }
      let id = ObjectID(entity: request.entityName, number: number)
      if format == .table { return try output.write("\(id)\n") }
      let reference = id.reference(in: transaction.storeID)
      try rows.write([.string(id.description), .string(reference)], &output)
    }
    if format != .table { try rows.end(&output) }
  }

  private func eachRow(
    _ request: FetchRequest, _ transaction: ReadTransaction, _ body: ([Value]) throws -> Void
  ) throws {
    try transaction.forEachRow(request) { row in
      // A request has no limit of 0, so one row is read and not used.
      if question.limit == 0 { return false }
      try body(row.values)
      return true
    }
  }
}

extension FetchRequest {
  /// Identities are read as rows of one column, so that they come one at a time.
  fileprivate var asRun: FetchRequest {
    var request = self
    if resultType == .identifiers { request.resultType = .rows }
    return request
  }
}

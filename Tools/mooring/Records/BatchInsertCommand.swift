public import ArgumentParser
public import Console
import EntityModel
public import EntityObjects
import EntityStore
import Foundation
public import StoreJobs
import Synchronization

struct BatchInsertCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "insert",
    abstract: "Inserts the records of a file: JSON Lines, a JSON array, or CSV with a header.",
    discussion: """
      mooring fetch Episode --select id,title --format csv-exact | mooring batch insert Episode - \
      --on-conflict update --by id,feedID
      mooring-dump records --store OLD | mooring batch insert -

      The file is read in parts, whatever its size. Values are written as for `mooring set`, in \
      JSON also as numbers, true, false and lists of texts; null, or an empty field of CSV, is no \
      value. A to-one relationship has the other record's Entity/number. Attributes that an item \
      does not name get their defaults.

      An item that is refused stops the batch. Committed items stay, and after the file has been \
      corrected, the same command resumes. With --keep-going all other items are inserted, and the \
      exit status is still 65.

      Without an entity, the file is what `mooring-dump records` prints without one: the records \
      of all entities, which keep their numbers, their links and the order of those. The store \
      must have the same schema, and no records with these numbers.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(
    help: "The entity, such as Episode; left out before the file of a dump.", completion: .entity)
  var entity: String
  @Argument(help: "The file, or - for standard input.", completion: .file()) var file: String?
  @Option(
    help: ArgumentHelp(
      "Where a record has the unique values of an item: fail, skip the item, or update the record "
        + "with what the item names.", valueName: "what"))
  var onConflict = InsertRecords.Conflict.fail
  @Option(
    help: ArgumentHelp(
      "With --on-conflict update: exactly the attributes of one unique index, by which a record is "
        + "found.", valueName: "attributes"), completion: .attributes)
  var by: String?
  @Flag(help: "Insert the others where an item is refused.") var keepGoing = false
  @OptionGroup(title: "Batch") var batch: BatchOptions
  @OptionGroup var job: DetachOptions

  /// The number of refused items that are reported one by one.
  private static let errorsReportedMax = 100

  private var isDump: Bool { file == nil }
  /// The last argument.
  private var path: String { file ?? entity }

  func validate() throws {
    if isDump {
      if onConflict != .fail || by != nil {
        throw ValidationError("--on-conflict and --by need an entity; name one before the file")
      }
      if job.detach { throw ValidationError("--detach needs an entity; name one before the file") }
      if batch.ids { throw ValidationError("--ids needs an entity; name one before the file") }
    }
    _ = try conflict()
    try batch.refuse(with: job)
    if job.detach, path == "-" {
      throw ValidationError("a worker cannot read this standard input; name a file")
    }
  }

  func run() async throws {
    let store = try options.open()
    if isDump { return try await insertDump(into: store) }
    let description = try store.read { try $0.description(of: entity) }
    guard !description.isSystem else {
      throw CommandError(.usage, "\(entity) belongs to the store itself, which keeps its records")
    }
    if job.detach {
      return try await job.enqueue(try insertion(), in: store, options, batch.format)
    }
    let result = try await execute(try request(description), in: store, entity)
    try write(result, of: store)
  }

  private func insertDump(into store: Store) async throws {
    let schema = try store.schema
    let file: BatchFile
    do {
      file = try BatchFile(path)
    } catch let error as BatchFileError
      where error.code == .missing && schema.entity(named: path) != nil
    {
      throw CommandError(
        .usage, "name the file of the items of \(path) after it; - is standard input")
    }
    let reader = DumpReader(schema)
    var request = BatchInsertRequest(
      dump: file, options: try requestOptions("dump")
    ) { reader.item($0) }
    if keepGoing { request.itemErrors = .collect(max: Self.errorsReportedMax) }
    let result = try await execute(request, in: store, "records")
    let links = try store.read { try $0.linkProblems(limit: Self.errorsReportedMax) }
    for problem in links.first { Message.say(problem) }
    try write(result, of: store)
    guard links.count > 0 else { return }
    throw CommandError(
      .badData,
      "\(Formatting.count(Int64(links.count))) links of the store lead to no record, or are "
        + "incomplete; insert the whole dump into an empty store")
  }

  private func execute(
    _ request: BatchInsertRequest, in store: Store, _ label: String
  ) async throws -> BatchResult {
    let done = Atomic<Int64>(0)
    do {
      return try await options.runBatch(label) { progress in
        try await store.execute(request) {
          done.store($0.done, ordering: .relaxed)
          progress($0)
        }
      }
    } catch let error as BatchItemError {
      let count = done.load(ordering: .relaxed)
      if count > 0, !options.quiet {
        Message.say(
          count == 1
            ? "the item before it was inserted, and stays"
            : "\(Formatting.count(count)) items before it were inserted, and stay")
      }
      throw error
    }
  }

  /// - Parameter what: The entity or the kind of the file.
  private func requestOptions(_ what: String) throws -> BatchRequestOptions {
    var options = try batch.requestOptions()
    // The same file in the same way is the same batch.
    let file = path == "-" ? path : URL(fileURLWithPath: path).path
    options.name = ["mooring", what, file, onConflict.rawValue, by, batch.without]
      .compactMap { $0 }.joined(separator: " ")
    return options
  }

  private func request(_ description: EntityDescription) throws -> BatchInsertRequest {
    let reader = BatchItemReader(description)
    var request = BatchInsertRequest(
      entity, from: try BatchFile(path), onConflict: try conflict(), resultType: batch.resultType,
      options: try requestOptions(entity)
    ) { element, startedAt in reader.item(element, startedAt: startedAt) }
    if keepGoing { request.itemErrors = .collect(max: Self.errorsReportedMax) }
    return request
  }

  private func insertion() throws -> InsertRecords {
    InsertRecords(
      entity, file: URL(fileURLWithPath: path).path, onConflict: onConflict,
      by: try OptionList.parts(of: by, "--by"), keepsGoing: keepGoing,
      without: try batch.withoutList(), author: batch.author)
  }

  private func conflict() throws -> BatchInsertRequest.Conflict {
    let attributes = try OptionList.parts(of: by, "--by")
    switch onConflict {
    case .update:
      guard !attributes.isEmpty else {
        throw ValidationError("--on-conflict update needs --by, such as --by id,feedID")
      }
      return .update(by: attributes)
    case .fail, .skip:
      if by != nil { throw ValidationError("--by goes with --on-conflict update; leave it out") }
      return onConflict == .skip ? .skip : .fail
    }
  }

  private func write(_ result: BatchResult, of store: Store) throws {
    let output = BatchOutput(entity: isDump ? "all" : entity, format: batch.format)
    try output.write(
      result,
      [
        ("inserted", \.inserted), ("updated", \.updated), ("skipped", \.skipped),
        ("refused", \.refused),
      ], of: store)
    for error in result.errors { Message.say("\(error)") }
    guard result.counts.refused > 0 else { return }
    let more = result.counts.refused - Int64(result.errors.count)
    if more > 0 { Message.say("and \(Formatting.count(more)) more were refused") }
    throw ExitStatus.badData.exitCode
  }
}

extension InsertRecords.Conflict: ExpressibleByArgument {}

extension BatchItemError: ExitStatusProviding {
  public var exitStatus: ExitStatus {
    guard let error = error as? any ExitStatusProviding else { return .badData }
    // A wrong name in a file is bad data, not a wrong command line.
    return error.exitStatus == .usage ? .badData : error.exitStatus
  }
}

extension BatchFileError: ExitStatusProviding {
  public var exitStatus: ExitStatus {
    switch code {
    case .missing: .unavailable
    case .unreadable: .inputOutput
    case .malformed: .badData
    }
  }
}

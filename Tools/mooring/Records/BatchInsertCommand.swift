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

      The file is read in parts, whatever its size. Values are written as for `mooring set`, in \
      JSON also as numbers, true, false and lists of texts; null, or an empty field of CSV, is no \
      value. A to-one relationship has the other record's Entity/number. Attributes that an item \
      does not name get their defaults.

      An item that is refused stops the batch. Committed items stay, and after the file has been \
      corrected, the same command resumes. With --keep-going all other items are inserted, and the \
      exit status is still 65.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The entity, such as Episode.") var entity: String
  @Argument(help: "The file, or - for standard input.") var file: String
  @Option(
    help: ArgumentHelp(
      "Where a record has the unique values of an item: fail, skip the item, or update the record "
        + "with what the item names.", valueName: "what"))
  var onConflict = InsertRecords.Conflict.fail
  @Option(
    help: ArgumentHelp(
      "With --on-conflict update: exactly the attributes of one unique index, by which a record is "
        + "found.", valueName: "attributes"))
  var by: String?
  @Flag(help: "Insert the others where an item is refused.") var keepGoing = false
  @OptionGroup(title: "Batch") var batch: BatchOptions
  @OptionGroup var job: DetachOptions

  /// The number of refused items that are reported one by one.
  private static let errorsReportedMax = 100

  func validate() throws {
    _ = try conflict()
    try batch.refuse(with: job)
    if job.detach, file == "-" {
      throw ValidationError("a worker cannot read this standard input; name a file")
    }
  }

  func run() async throws {
    let store = try options.open()
    let description = try store.read { try $0.description(of: entity) }
    guard !description.isSystem else {
      throw CommandError(.usage, "\(entity) belongs to the store itself, which keeps its records")
    }
    if job.detach {
      return try await job.enqueue(try insertion(), in: store, options, batch.format)
    }
    let request = try request(description)
    let done = Atomic<Int64>(0)
    let result: BatchResult
    do {
      result = try await options.runBatch(entity) { progress in
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
    try write(result, of: store)
  }

  private func request(_ description: EntityDescription) throws -> BatchInsertRequest {
    var requestOptions = try batch.requestOptions()
    // The same file in the same way is the same batch.
    let path = file == "-" ? file : URL(fileURLWithPath: file).path
    requestOptions.name = ["mooring", entity, path, onConflict.rawValue, by, batch.without]
      .compactMap { $0 }.joined(separator: " ")
    let reader = BatchItemReader(description)
    var request = BatchInsertRequest(
      entity, from: try BatchFile(file), onConflict: try conflict(), resultType: batch.resultType,
      options: requestOptions
    ) { element, startedAt in reader.item(element, startedAt: startedAt) }
    if keepGoing { request.itemErrors = .collect(max: Self.errorsReportedMax) }
    return request
  }

  private func insertion() throws -> InsertRecords {
    InsertRecords(
      entity, file: URL(fileURLWithPath: file).path, onConflict: onConflict,
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
    let output = BatchOutput(entity: entity, format: batch.format)
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

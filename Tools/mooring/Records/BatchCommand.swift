import ArgumentParser
import Console
import EntityModel
import EntityObjects
import EntityStore
import Foundation

struct BatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "batch",
    abstract: "Inserts, updates or deletes many records.",
    discussion: """
      A batch is committed in chunks; other processes can write in between. Ctrl-C, a kill or an \
      error loses no committed chunk: the same command resumes where it stopped, and changes no \
      record twice. --restart starts again instead.

      Rules of attributes and relationships apply as for a single record; --without switches off \
      validation, deleteRules or history. Unique and required values are always checked.
      """,
    subcommands: [BatchUpdateCommand.self, BatchDeleteCommand.self, BatchInsertCommand.self])
}

/// The options that all batch commands share.
struct BatchOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Switch off validation, deleteRules or history, separated by commas.", valueName: "parts"))
  var without: String?
  @Flag(help: "Start again, even if an interrupted run of this command could resume.")
  var restart = false
  @Option(help: ArgumentHelp("The author for the change history.", valueName: "name"))
  var author = "batch"
  @Flag(help: "Print Entity/number of each record instead of the counts; as JSON its URL as well.")
  var ids = false
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.table

  func validate() throws { _ = try parts() }

  func requestOptions() throws -> BatchRequestOptions {
    BatchRequestOptions(without: try parts(), author: author, restart: restart)
  }

  var resultType: BatchResultType { ids ? .identifiers : .count }

  /// - Throws: `ValidationError` for what a job cannot have.
  func refuse(with job: DetachOptions, _ target: BatchTarget? = nil) throws {
    try job.refuse([
      "--ids": ids, "--restart": restart, "--dry-run": target?.dryRun ?? false,
    ])
  }

  /// In an order that is always the same.
  func withoutList() throws -> [BatchOption] {
    try parts().sorted { $0.rawValue < $1.rawValue }
  }

  private func parts() throws -> Set<BatchOption> {
    let words = try OptionList.parts(of: without, "--without")
    return try Set(
      words.map { word in
        guard let option = BatchOption(rawValue: word) else {
          let names = BatchOption.allCases.map(\.rawValue).joined(separator: ", ")
          throw ValidationError("--without: there is no part \"\(word)\"; use \(names)")
        }
        return option
      })
  }
}

/// Which records an update or a deletion is about.
struct BatchTarget: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Which records. @FILE reads the predicate from a file, - from standard input.",
      valueName: "predicate"))
  var `where`: String?
  @Flag(help: "Every record of the entity.") var all = false
  @Option(
    help: ArgumentHelp(
      "The value of $NAME in the predicate: 5, \"text\", nil, DATE \"…\"; any other word is a "
        + "text. "
        + "May be repeated.", valueName: "name=value"))
  var variable: [String] = []
  @Flag(help: "Only print which records would be changed.") var dryRun = false

  func validate() throws {
    if `where` == nil, !all {
      throw ValidationError("select the records: --where PREDICATE, or --all")
    }
    if `where` != nil, all {
      throw ValidationError("--where and --all contradict each other; leave one out")
    }
  }

  /// The predicate, found fit for the entity; `nil` for every record.
  ///
  /// - Throws: `StoreError` for an entity that is not there; `CommandError`, `PlacedError`.
  func predicate(of entity: String, in transaction: ReadTransaction) throws -> FetchPredicate? {
    let description = try transaction.description(of: entity)
    guard !description.isSystem else {
      throw CommandError(.usage, "\(entity) belongs to the store itself, which keeps its records")
    }
    let text = try `where`.map { try PredicateText(option: "--where", argument: $0) }
    let values = try VariableValues(variable)
    let parsed = try text?.predicate()
    try values.requireUse(in: parsed?.variables ?? [])
    guard let text, let predicate = try parsed.map(values.substituted) else { return nil }
    do {
      // Bound, and answered without a look at any record.
      let nothing = FetchPredicate.and(predicate.conjuncts + [.always(false)])
      _ = try transaction.count(FetchRequest(entityName: entity, predicate: nothing))
    } catch let error as StoreError
      where [.unknownAttribute, .invalidRequest].contains(error.code)
    {
      throw text.placing(error)
    }
    return predicate
  }

  /// Prints what matches now.
  func printMatches(
    _ request: FetchRequest, _ title: String, _ options: BatchOptions,
    in transaction: ReadTransaction
  ) throws {
    let output = BatchOutput(entity: request.entityName, format: options.format)
    if options.ids {
      try output.write(try transaction.fetchIdentifiers(request), in: transaction.storeID)
    } else {
      try output.write([(title, Int64(try transaction.count(request)))])
    }
  }
}

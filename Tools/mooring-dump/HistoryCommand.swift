import ArgumentParser
import Console
import EntityModel
import EntityStore
import TextFormats

struct HistoryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Prints the change history, one row per change, oldest first.",
    discussion: """
      mooring-dump history --entity Episode --limit 10

      The rows of one write have the same sequence number, and no limit parts them. The values \
      are those from before the change, as far as the history keeps them. The kind unrecorded \
      says that something of an entity was changed by a write that noted no more. A token is a \
      place in the history: with json, jsonl and csv each row has the one right after its write, \
      to go on from. Any length is printed in little memory.

        mooring-dump history --token > place
        mooring-dump history --after "$(cat place)" --format jsonl
      """)

  @OptionGroup var options: StoreOptions
  @Option(help: ArgumentHelp("Only what came after this token.", valueName: "token"))
  var after: String?
  @Option(help: ArgumentHelp("Only what this consumer has not read yet.", valueName: "name"))
  var consumer: String?
  @Option(
    help: ArgumentHelp("Only changes of this entity; may be repeated.", valueName: "name"),
    completion: .entity)
  var entity: [String] = []
  @Option(help: ArgumentHelp("Omit changes by this author.", valueName: "name"))
  var exceptAuthor: String?
  @Option(help: "At most so many writes, each with all of its changes.") var limit: Int?
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.table
  @Flag(help: "Print the current token of the store, and no changes.") var token = false
  @Flag(help: "List those who read the history by name, and no changes.") var consumers = false

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit cannot be negative") }
    for conflict in conflicts where conflict.holds { throw ValidationError(conflict.advice) }
  }

  private var conflicts: [(holds: Bool, advice: String)] {
    let chooses =
      after != nil || consumer != nil || !entity.isEmpty || exceptAuthor != nil || limit != nil
    return [
      (after != nil && consumer != nil, "--after and --consumer both name the start; use one"),
      (token && consumers, "--token and --consumers print different things; leave one out"),
      (token && chooses, "--token prints one token; use it without options that choose changes"),
      (token && format != .table, "--token prints a bare token; leave out --format"),
      (consumers && chooses, "--consumers lists all; use it without options that choose changes"),
    ]
  }

  func run() async throws {
    try options.openToRead(verifies: true).read { transaction in
      try StandardOutput.with { output in
        if token {
          try output.write("\(try transaction.historyToken())\n")
        } else if consumers {
          try writeConsumers(in: transaction, &output)
        } else {
          try writeChanges(in: transaction, &output)
        }
      }
    }
  }

  private func writeConsumers(
    in transaction: ReadTransaction, _ output: inout StandardOutput
  ) throws {
    var rows = RowWriter(titles: ["name", "behind", "moved", "expired", "token"], format: format)
    for consumer in try transaction.historyConsumers() {
      let row: [Value] = [
        .string(consumer.name), .int64(consumer.unread), .date(consumer.updatedAt),
        .bool(consumer.isExpired), .string(consumer.token.description),
      ]
      try rows.write(row, &output)
    }
    try rows.end(&output)
  }

  private func writeChanges(
    in transaction: ReadTransaction, _ output: inout StandardOutput
  ) throws {
    let start = try start(in: transaction)
    var rows = HistoryRows(format: format)
    var rest: HistoryToken?
    var damage: StoreError?
    do {
      try transaction.forEachHistory(
        after: start, of: entity.isEmpty ? nil : Set(entity), exceptBy: exceptAuthor
      ) { write in
        if let limit, rows.writes >= limit {
          rest = rows.token
          return false
        }
        try rows.write(write, &output)
        return true
      }
    } catch let error as StoreError where error.code == .damaged {
      // What came before the damage is printed as a whole document.
      damage = error
    }
    try rows.end(&output)
    if let damage { throw damage }
    try output.flush()
    if format == .table, !options.quiet { explain(rest, in: transaction) }
  }

  /// - Throws: `CommandError` for a consumer that is not there; `invalidToken`.
  private func start(in transaction: ReadTransaction) throws -> HistoryToken? {
    if let after { return try HistoryToken(after) }
    guard let consumer else { return nil }
    if let token = try transaction.historyToken(of: consumer) { return token }
    let names = try transaction.historyConsumers().map(\.name)
    let advice = NearestName.advice(
      on: consumer, among: names,
      otherwise: names.isEmpty ? "there are none" : "there are \(names.joined(separator: ", "))")
    throw CommandError(
      .unavailable, "no consumer of the history is named \"\(consumer)\"; \(advice)")
  }

  /// Prints the context of the rows.
  private func explain(_ rest: HistoryToken?, in transaction: ReadTransaction) {
    for name in entity where transaction.schema.entity(named: name)?.keepsHistory == false {
      Message.say("\(name) has no history; a migration with setHistory enables it")
    }
    if let rest { Message.say("more follows; continue with --after \(rest)") }
  }
}

import ArgumentParser
import Console
import EntityModel
import EntityStore
import TextFormats

struct Records: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the records of an entity, or of all, in the order of their ids.",
    discussion: """
      mooring-dump records Episode --limit 3
      mooring-dump records Episode --select id,title --format csv
      mooring-dump records | mooring batch insert - --store COPY

      Every row begins with that number as "_id". Any length is printed in little memory. A \
      record that cannot be read, or does not match its seal, is reported on stderr, and the dump \
      continues.

      Without an entity, the records of all entities are printed with their "_entity", those of \
      relationships and of the system included, and all values exactly: `mooring batch insert` \
      reads them into an empty store with the same schema. Only the change history and its \
      consumers are not printed.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(
    help: "The entity, such as Episode; a system entity such as _Feed as well.",
    completion: .entity)
  var entity: String?
  @Option(help: "At most so many records.") var limit: Int?
  @Option(help: "The number of records to skip.") var offset = 0
  @Option(help: "Attributes to show, separated by commas.", completion: .attributes) var select:
    String?
  @Option(help: "Only the record of this number.") var id: Int64?
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.jsonl

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit cannot be negative") }
    if offset < 0 { throw ValidationError("--offset cannot be negative") }
    guard entity == nil else { return }
    if limit != nil || offset != 0 || select != nil || id != nil {
      throw ValidationError("--limit, --offset, --select and --id need an entity; name one")
    }
    if format != .jsonl {
      throw ValidationError(
        "the records of all entities are printed as jsonl only, because their columns differ; "
          + "name an entity, or leave out --format")
    }
  }

  func run() async throws {
    let store = try options.openToRead()
    guard let entity else { return try DumpOfAll(store).write() }
    var damage = Damage()
    try store.read { transaction in
      try StandardOutput.with { output in
        let columns = try chosen(of: entity, in: transaction)
        var rows = RowWriter(titles: ["_id"] + columns, format: format)
        try eachRecord(of: entity, in: transaction, &damage) { record in
          try rows.write(try row(of: record, columns), &output)
        }
        try rows.end(&output)
      }
    }
    try damage.end("records of \(entity)")
  }

  /// The attributes to show.
  private func chosen(
    of entity: String, in transaction: ReadTransaction
  ) throws -> [String] {
    let description = try transaction.description(of: entity)
    let names = description.attributes.map(\.name)
    guard let select else { return names }
    let wanted = select.split(separator: ",").map {
      String($0.drop(while: \.isWhitespace))
    }
    for name in wanted where !names.contains(name) {
      throw StoreError.unknownAttribute(name, in: description)
    }
    return wanted
  }

  private func eachRecord(
    of entity: String, in transaction: ReadTransaction, _ damage: inout Damage,
    _ body: (Record) throws -> Void
  ) throws {
    var (skipped, shown) = (0, 0)
    try transaction.forEachStored(entity, from: id) { stored in
      if let id, stored.id != id { return false }
      if skipped < offset {
        skipped += 1
        return true
      }
      if let limit, shown >= limit { return false }
      shown += 1
      if let record = damage.record(stored) { try body(record) }
      return true
    }
    if let id, shown == 0, skipped == 0 {
      throw StoreError.missing(ObjectID(entity: entity, number: id))
    }
  }

  private func row(of record: Record, _ columns: [String]) throws -> [Value] {
    [.int64(record.id.number)] + (try columns.map { try record[$0] })
  }
}

/// The records of all entities, as `mooring batch insert` reads them.
private struct DumpOfAll {
  /// The entities that are about the change history, which a dump does not have.
  private static let leftOut: Set = ["_HistoryConsumer", "_SectionCache"]

  private let store: Store

  init(_ store: Store) { self.store = store }

  func write() throws {
    var damage = Damage()
    try store.read { transaction in
      try StandardOutput.with { output in
        for entity in transaction.schema.entities where !Self.leftOut.contains(entity.name) {
          let titles = ["_entity", "_id"] + entity.attributes.map(\.name)
          try transaction.forEachStored(entity.name) { stored in
            guard let record = damage.record(stored) else { return true }
            let cells: [Value] =
              [.string(entity.name), .int64(record.id.number)] + record.fields.map(\.value)
            try output.write(JSONLiteral.object(titles, cells.map(\.exactJSON)) + "\n")
            return true
          }
        }
      }
    }
    try damage.end("records")
  }
}

/// Counts what a dump cannot read, and says each of it.
struct Damage {
  private var count = 0

  /// Returns the record; nil if it is damaged.
  mutating func record(_ stored: StoredRecord) -> Record? {
    do throws(StoreError) {
      return try stored.read()
    } catch {
      add("\(error)")
      return nil
    }
  }

  mutating func add(_ text: String) {
    Message.say(text)
    count += 1
  }

  /// - Throws: Exit status 65 after damage.
  func end(_ name: String) throws {
    guard count > 0 else { return }
    Message.say("\(Formatting.count(Int64(count))) \(name) cannot be read")
    throw ExitStatus.badData.exitCode
  }
}

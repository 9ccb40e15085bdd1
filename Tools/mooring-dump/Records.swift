import ArgumentParser
import Console
import EntityModel
import EntityStore

struct Records: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the records of an entity in the order of their ids.",
    discussion: """
      Every row begins with that number as "_id". Any length is printed in little memory. A \
      record that cannot be read is reported on stderr, and the dump continues.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The entity, such as Episode; a system entity such as _Feed as well.")
  var entity: String
  @Option(help: "At most so many records.") var limit: Int?
  @Option(help: "The number of records to skip.") var offset = 0
  @Option(help: "Attributes to show, separated by commas.") var select: String?
  @Option(help: "Only the record of this number.") var id: Int64?
  @Option(help: "table, json, jsonl or csv.") var format = OutputFormat.jsonl

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit cannot be negative") }
    if offset < 0 { throw ValidationError("--offset cannot be negative") }
  }

  func run() async throws {
    let store = try options.openToRead()
    let damaged = try store.read { transaction in
      try StandardOutput.with { output in
        let columns = try chosen(in: transaction)
        var rows = RowWriter(titles: ["_id"] + columns, format: format)
        let damaged = try eachRecord(in: transaction) { record in
          try rows.write(try row(of: record, columns), &output)
        }
        try rows.end(&output)
        return damaged
      }
    }
    guard damaged > 0 else { return }
    Message.say("\(Formatting.count(Int64(damaged))) records of \(entity) cannot be read")
    throw ExitStatus.badData.exitCode
  }

  /// The attributes to show.
  private func chosen(in transaction: ReadTransaction) throws -> [String] {
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

  /// - Returns: How many records were damaged.
  private func eachRecord(
    in transaction: ReadTransaction, _ body: (Record) throws -> Void
  ) throws -> Int {
    var (damaged, skipped, shown) = (0, 0, 0)
    try transaction.forEachStored(entity, from: id) { stored in
      if let id, stored.id != id { return false }
      if skipped < offset {
        skipped += 1
        return true
      }
      if let limit, shown >= limit { return false }
      shown += 1
      let record: Record
      do throws(StoreError) {
        record = try stored.read()
      } catch {
        Message.say("\(error)")
        damaged += 1
        return true
      }
      try body(record)
      return true
    }
    if let id, shown == 0, skipped == 0 {
      throw StoreError.missing(ObjectID(entity: entity, number: id))
    }
    return damaged
  }

  private func row(of record: Record, _ columns: [String]) throws -> [Value] {
    [.int64(record.id.number)] + (try columns.map { try record[$0] })
  }
}

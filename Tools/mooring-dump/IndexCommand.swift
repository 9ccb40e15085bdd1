import ArgumentParser
import Console
import EntityModel
import EntityStore

struct IndexCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "index", abstract: "Prints the entries of an index in the order of their keys.",
    discussion: """
      mooring-dump index Episode byUpdate --limit 3

      A value that was too long for the key is shown as far as it goes, with … at its end. Of a \
      text with a collation the key has what it sorts by: the text with its case folded, or the \
      bytes of a sort key, shown in base64. With --raw the keys are shown as the bytes that they \
      are.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The entity, such as Episode.", completion: .entity) var entity: String
  @Argument(help: "The index, such as byUpdate; see mooring-dump schema.", completion: .index)
  var index: String
  @Option(help: "At most so many entries.") var limit: Int?
  @Flag(help: "The bytes of the keys in hexadecimal.") var raw = false
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.table

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit cannot be negative") }
  }

  func run() async throws {
    let store = try options.openToRead()
    var damage = Damage()
    try store.read { transaction in
      try StandardOutput.with { output in
        let columns = raw ? ["key"] : try keys(in: transaction)
        var rows = RowWriter(titles: columns + ["_id"], format: format)
        try eachEntry(in: transaction, &damage) { try rows.write($0, &output) }
        try rows.end(&output)
      }
    }
    try damage.end("entries of \(index)")
  }

  /// The attributes of the key, with their collations.
  private func keys(in transaction: ReadTransaction) throws -> [String] {
    let entity = try transaction.description(of: entity)
    return entity.index(named: index)?.keys.map { key in
      let name = entity.attributes.first { $0.id == key.attributeID }?.name
      let title = name ?? "#\(key.attributeID)"
      return key.collation == .binary ? title : "\(title) \(key.collation.text)"
    } ?? []
  }

  private func eachEntry(
    in transaction: ReadTransaction, _ damage: inout Damage, _ body: ([Value]) throws -> Void
  ) throws {
    var shown = 0
    try transaction.eachEntry(of: entity, index: index) { entry in
      if let limit, shown >= limit { return false }
      shown += 1
      let id = entry.id.map(Value.int64) ?? .null
      if raw {
        try body([.string(entry.key.hexadecimal), id])
      } else if let parts = entry.parts {
        try body(parts.map(\.shown) + [id])
      } else {
        damage.add("an entry of \(entity) \(index) is unreadable: \(entry.key.hexadecimal)")
      }
      return true
    }
  }
}

extension IndexKeyPart {
  fileprivate var shown: Value { isCut ? .string(value.text + "…") : value }
}

extension [UInt8] {
  fileprivate var hexadecimal: String {
    let digits = Array<UInt8>("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in self { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }
}

import EntityModel
import EntityStore
import FeedDocuments

/// Merges the first entries of new records. There is nothing to compare them with but the defaults,
/// so a value takes no memory of its own on its way to both records.
final class NewUserEntries {
  /// A local attribute that the entries of a page have values for.
  private struct Column {
    let position: Int
    let name: String
    /// The place of its name among those of the columns.
    let rank: Int
  }

  private struct Said {
    let column: Int
    let value: Value
  }

  // SAFETY (`@exclusivity(unchecked)`): the object belongs to a write transaction, and so to one
  // thread, and no access to a property runs code that accesses it again.
  let target: UserTarget
  private let table: UserStateTable
  /// The page whose names the columns have, by the numbers of the names; `nil` for a name without a
  /// local attribute.
  @exclusivity(unchecked) private var page: FieldValues?
  @exclusivity(unchecked) private var columns: [Column?] = []
  /// The values of the last entry in the order of their names.
  @exclusivity(unchecked) private var said: [Said] = []
  @exclusivity(unchecked) private var json: [UInt8] = []
  @exclusivity(unchecked) private var row: RowBuilder

  init(_ target: UserTarget, _ table: UserStateTable) {
    self.target = target
    self.table = table
    row = table.newRow()
  }

  /// Merges an entry into the row of a new record.
  ///
  /// - Returns: The number of values that differ from the defaults.
  func merge(_ entry: UserEntry, into row: inout RowCopy) -> Int {
    var changed = 0
    said.removeAll(keepingCapacity: true)
    entry.values.withEntries { fields in
      use(fields.values)
      for field in fields.entries {
        let number = Int(field.name)
        guard let position = columns[number]?.position,
          let value = target.value(of: field, in: fields, at: position)
        else { continue }
        if value != target.feed.defaults[position] {
          row.set(value, at: position)
          changed += 1
        }
        let place = said.firstIndex { rank(of: $0.column) > rank(of: number) }
        said.insert(Said(column: number, value: value), at: place ?? said.count)
      }
    }
    return changed
  }

  /// Stores the entry that was merged last.
  func save(_ entry: UserEntry, in transaction: WriteTransaction) throws {
    json.removeAll(keepingCapacity: true)
    json.append(contentsOf: #"{"said":{"#.utf8)
    for (number, value) in said.enumerated() {
      if number > 0 { json.append(UInt8(ascii: ",")) }
      try json.appendJSONName(columns[value.column]?.name ?? "")
      json.append(UInt8(ascii: ":"))
      try json.appendJSON(value.value)
    }
    json.append(contentsOf: "}}".utf8)
    row.removeAll()
    table.set(json, of: entry, in: &row)
    _ = try transaction.insert(row, into: table.entity)
  }

  private func rank(of column: Int) -> Int { columns[column]?.rank ?? 0 }

  /// Looks the attributes of a page's fields up, once for all of its entries.
  private func use(_ values: FieldValues) {
    if values === page { return }
    page = values
    func position(_ name: String) -> Int? {
      let position = target.feed.localAttributes[name]
      return position.flatMap { target.feed.links.contains($0) ? nil : $0 }
    }
    let sorted = values.names.filter { position($0) != nil }.sorted()
    columns = values.names.map { name in
      guard let position = position(name), let rank = sorted.firstIndex(of: name) else {
        return nil
      }
      return Column(position: position, name: name, rank: rank)
    }
  }
}

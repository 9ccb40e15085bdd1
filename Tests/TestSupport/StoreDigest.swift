public import EntityModel
public import EntityStore

/// The content of a store as text, independent of its origin: without the numbers that only the
/// catalog uses.
public enum StoreDigest {
  /// Returns the schema by names and all records in order. Of the system's records, it contains
  /// only the copies of records.
  public static func lines(in transaction: ReadTransaction) throws -> [String] {
    var lines = [text(of: transaction.schema)]
    for name in transaction.schema.entities.map(\.name).sorted() where !name.hasPrefix("_") {
      for record in try transaction.fetch(FetchRequest(entityName: name)) {
        lines.append("\(record.id) \(text(of: record, besides: []))")
      }
    }
    let kept = try transaction.fetch(FetchRequest(entityName: "_Quarantine"))
    return lines + kept.map { "kept \(text(of: $0, besides: ["movedAt"]))" }.sorted()
  }

  /// A checksum of the lines.
  public static func hash(of lines: [String]) -> UInt64 {
    lines.joined(separator: "\n").utf8.reduce(0xcbf2_9ce4_8422_2325) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
  }

  public static func text(of schema: Schema) -> String {
    schema.entities.filter { !$0.name.hasPrefix("_") }.sorted { $0.name < $1.name }.map { entity in
      let attributes = entity.attributes.filter { !$0.isHidden }.sorted { $0.name < $1.name }.map {
        "\($0.name) \($0.type.name) \($0.isOptional) \($0.defaultValue.text) \($0.validation)"
      }
      let indexes = entity.indexes.sorted { $0.name < $1.name }.map { index in
        let keys = index.keys.map { key in
          let name = entity.attributes.first { $0.id == key.attributeID }?.name ?? "?"
          return "\(name) \(key.isDescending) \(key.collation)"
        }
        return "\(index.name) \(keys) \(index.isUnique) \(index.isSparse)"
      }
      return "\(entity.name): \(attributes) \(indexes)"
    }.joined(separator: "; ")
  }

  private static func text(of record: Record, besides names: Set<String>) -> String {
    record.fields.filter { !names.contains($0.name) && !$0.name.hasPrefix("_") }
      .sorted { $0.name < $1.name }
      .map { field in
        if case .data(let bytes) = field.value { return "\(field.name)=\(Array(bytes))" }
        return "\(field.name)=\(field.value.text)"
      }
      .joined(separator: " ")
  }
}

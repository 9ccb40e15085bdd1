import EntityModel
import Foundation

@testable import EntityStore

/// The records and links of a store as programs have printed them, one JSON object per line.
struct ExpectedRecords {
  /// The values by entity and record id. Entities without records are absent.
  var records: [String: [Int64: [String: PrintedValue]]] = [:]
  /// The links by record and relationship. Relationships without links are absent.
  var links: [ObjectID: [String: [String]]] = [:]

  private struct Row: Decodable {
    let entity: String
    let id: Int64
    let links: [String: [String]]?

    enum CodingKeys: String, CodingKey {
      case entity = "_entity"
      case id = "_id"
      case links = "_links"
    }
  }

  init(contentsOf file: URL) throws {
    let decoder = JSONDecoder()
    for line in try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")) {
      let row = try decoder.decode(Row.self, from: line)
      if let found = row.links {
        links[ObjectID(entity: row.entity, number: row.id)] = found
        continue
      }
      var values: [String: PrintedValue] = [:]
      let all = try decoder.decode([String: PrintedValue].self, from: line)
      for (name, value) in all where name != "_entity" && name != "_id" { values[name] = value }
      records[row.entity, default: [:]][row.id] = values
    }
  }

  var entities: [String] { records.keys.sorted() }

  /// The attributes of the home feed that no store had.
  private static let ofEpisodes: Set = [
    "contentHTML", "contentText", "authors", "mediaURL", "mediaType", "mediaBytes", "image",
  ]

  /// Returns the differences of a store.
  ///
  /// - Parameter newAttributes: What the store has beyond what was printed. Records of the system
  ///   and episodes may have more besides, at its default.
  func differences(
    from store: Store, newAttributes: Set<String> = []
  ) throws -> [String] {
    try store.read { transaction in
      var differences: [String] = []
      for (entity, wanted) in records {
        var missing = Set(wanted.keys)
        try transaction.forEachStored(entity) { stored in
          let record = try stored.read()
          let id = record.id
          missing.remove(id.number)
          guard let values = wanted[id.number] else {
            differences.append("\(id) is too many")
            return true
          }
          let description = try transaction.description(of: entity)
          let names = Set(description.attributes.map(\.name))
          differences += Set(values.keys).subtracting(names).map { "\(id).\($0) is lost" }
          for attribute in description.attributes
          where values[attribute.name] == nil && !newAttributes.contains(attribute.name) {
            // What this program's own lines have added since.
            let found = try record[attribute.name]
            let isOwn = description.isSystem || Self.ofEpisodes.contains(attribute.name)
            if !isOwn || found != attribute.defaultValue {
              differences.append("\(id).\(attribute.name) is \(found), and new")
            }
          }
          for (name, value) in values where names.contains(name) {
            let found = try record[name]
            if !value.says(found) {
              differences.append("\(id).\(name) is \(found), not \(value)")
            }
          }
          return true
        }
        differences += missing.map { "\(entity)/\($0) is missing" }
      }
      for entity in transaction.schema.entities where !entity.isSystem {
        if records[entity.name] == nil, try transaction.count(of: entity.name) > 0 {
          differences.append("\(entity.name) has records")
        }
      }
      return differences + (try linkDifferences(in: transaction))
    }
  }

  private func linkDifferences(in transaction: ReadTransaction) throws -> [String] {
    var differences: [String] = []
    for (id, wanted) in links {
      let relationships = try transaction.description(of: id.entity).relationships
      var found: [String: [String]] = [:]
      for relationship in relationships where !relationship.isHidden {
        let others = try transaction.related(id, relationship.name)
        if !others.isEmpty { found[relationship.name] = others.map { "\($0.entity)/\($0.number)" } }
      }
      if found != wanted { differences.append("\(id) leads to \(found), not \(wanted)") }
    }
    return differences
  }
}

/// A value as JSON has it. Decimals, dates, UUIDs, data and URLs are texts there.
enum PrintedValue: Decodable, Hashable {
  case null
  case flag(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case texts([String])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else {
      self = .texts(try container.decode([String].self))
    }
  }

  /// Returns true if it is the printed form of the value.
  func says(_ value: Value) -> Bool {
    switch (self, value) {
    case (.null, .null): true
    case (.flag(let a), .bool(let b)): a == b
    case (.integer(let a), .int64(let b)): a == b
    case (.integer(let a), .double(let b)): Double(a) == b
    case (.number(let a), .double(let b)): a == b
    case (.texts(let a), .strings(let b)): a == b
    case (.text(let a), .string), (.text(let a), .decimal), (.text(let a), .date),
      (.text(let a), .uuid), (.text(let a), .data), (.text(let a), .url):
      a == value.text
    default: false
    }
  }
}

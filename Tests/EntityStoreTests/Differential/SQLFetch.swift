import EntityModel
import Foundation

/// Answers requests by SQLite, from tables that hold the same data.
///
/// SQLite has no lists and decimals, so their columns are omitted.
struct SQLFetch {
  private let data: ModelData
  private let database: SQLiteDatabase

  /// A table for each entity, its columns without a type, so that a value stays of the kind that
  /// it was bound as.
  init(_ data: ModelData) throws {
    self.data = data
    database = try SQLiteDatabase()
    for entity in data.entities {
      let columns = Self.columns(of: entity)
      let names = columns.map { ", \"\($0)\"" }.joined()
      try database.run("CREATE TABLE \"\(entity.name)\" (id INTEGER PRIMARY KEY\(names))")
      let places = columns.indices.map { ", ?\($0 + 2)" }.joined()
      for (id, record) in data.records[entity.name] ?? [:] {
        try database.run(
          "INSERT INTO \"\(entity.name)\" VALUES (?1\(places))",
          [.int64(id)] + columns.map { record.values[$0] ?? .null })
      }
      for relationship in entity.relationships where relationship.storage == .firstOfLink {
        try fill(relationship, of: entity.name)
      }
    }
  }

  private static func columns(of entity: ModelEntity) -> [String] {
    entity.attributes.filter { ![.decimal, .strings].contains($0.type) }.map(\.name)
      + entity.relationships.filter { $0.storage == .reference }.map(\.name)
  }

  private func fill(_ relationship: ModelRelationship, of entity: String) throws {
    let table = SQLQuery.linkTable(entity, relationship.name)
    try database.run("CREATE TABLE \(table) (first, second)")
    for (id, others) in data.targets[entity]?[relationship.name] ?? [:] {
      for other in others {
        try database.run("INSERT INTO \(table) VALUES (?1, ?2)", [.int64(id), .int64(other)])
      }
    }
  }

  /// - Returns: The answer in SQLite's kinds; see `SQLFetch.inSQL(_:)`.
  func answer(_ request: FetchRequest) throws -> FetchAnswer {
    let query = try SQLQuery(request, entities: data.entities)
    let rows: [[Value]]
    do {
      rows = try database.run(query.text, query.arguments)
    } catch {
      throw SQLiteDatabase.Failure(description: "\(error)\n\(query.arguments)")
    }
    switch request.resultType {
    case .count:
      guard case .int64(let count)? = rows.first?.first else {
        throw SQLiteDatabase.Failure(description: "no count: \(query.text)")
      }
      return .count(Int(count))
    case .rows: return .rows(rows)
    case .entities, .identifiers:
      if request.isGrouped { return .rows(rows) }
      return .identities(
        rows.compactMap { if case .int64(let id) = $0[0] { id } else { nil } })
    }
  }

  /// An answer of another judge with the kinds that SQLite has.
  static func inSQL(_ answer: FetchAnswer) -> FetchAnswer {
    guard case .rows(let rows) = answer else { return answer }
    return .rows(rows.map { $0.map(inSQL) })
  }

  private static func inSQL(_ value: Value) -> Value {
    switch value {
    case .bool(let flag): .int64(flag ? 1 : 0)
    case .date(let date): .double(date.timeIntervalSinceReferenceDate)
    case .uuid(let uuid): .data(withUnsafeBytes(of: uuid.uuid) { Data($0) })
    case .url(let url): .string(url.absoluteString)
    default: value
    }
  }
}

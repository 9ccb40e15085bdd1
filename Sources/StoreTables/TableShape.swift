import EntityModel
import TextFormats

/// The columns of the table of an entity.
///
/// Names of entities and attributes begin with a letter and have at most 63 bytes, as identifiers
/// of PostgreSQL; those that begin with an underscore are ours:
///
///     _id                bigint   the record's id, the primary key
///     (each attribute)            see `type(of:)`
///     (each relationship that is stored as links of its own, as those to many on both sides)
///                        bigint[] the ids of the linked records, in their order
///     _unrepresentable   text[]   the columns that are null because PostgreSQL has no such value
struct TableShape {
  struct Column {
    enum Source {
      /// The attribute at this position.
      case attribute(Int)
      /// The links of a relationship.
      case links
    }

    /// The id of the attribute or the relationship.
    let id: Int
    let name: String
    let type: String
    let source: Source
  }

  let name: String
  let columns: [Column]

  /// The version of the way in which values are written.
  private static let format = 1

  /// - Throws: `TablesError` with `.noHistory`, `.reservedName`.
  init(_ entity: EntityDescription) throws(TablesError) {
    guard !entity.isSystem else {
      throw TablesError(
        .noHistory, "an entity of the program itself has no table", [("entity", entity.name)],
        advice: "name an entity of a migration")
    }
    guard entity.keepsHistory else {
      throw TablesError(
        .noHistory, "the entity writes no history, from which a table could follow it",
        [("entity", entity.name)],
        advice: "let a migration keep it: `setHistory: { on: …, keep: true }`")
    }
    name = entity.name
    var columns: [Column] = []
    for (position, attribute) in entity.attributes.enumerated() where !attribute.isHidden {
      columns.append(
        Column(
          id: attribute.id, name: attribute.name, type: Self.type(of: attribute.type.kind),
          source: .attribute(position)))
    }
    for relationship in entity.relationships where !relationship.isHidden {
      guard case .link = relationship.storage else { continue }
      columns.append(
        Column(id: relationship.id, name: relationship.name, type: "bigint[]", source: .links))
    }
    if let column = columns.first(where: { Self.systemColumns.contains($0.name) }) {
      throw TablesError(
        .reservedName, "PostgreSQL keeps the name of an attribute for itself",
        [("entity", entity.name), ("attribute", column.name)],
        advice: "let a migration rename the attribute")
    }
    self.columns = columns
  }

  /// The names that every table has already.
  private static let systemColumns: Set = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

  private static func type(of kind: ValueKind) -> String {
    switch kind {
    case .int64: "bigint"
    case .double: "double precision"
    case .decimal: "numeric"
    case .bool: "boolean"
    case .string, .url: "text"
    case .date: "timestamptz"
    case .uuid: "uuid"
    case .data: "bytea"
    case .strings: "text[]"
    }
  }

  /// The shape as it is stored beside the table: a table with another one is replaced.
  var text: String {
    let columns = columns.map { "\($0.id) \($0.name) \($0.type)" }
    return "\(Self.format): \(columns.joined(separator: ", "))"
  }

  // MARK: SQL

  func creation(of table: String) -> String {
    let columns = columns.map { "\($0.name.sqlName) \($0.type), " }.joined()
    return "CREATE TABLE \(table) (\"_id\" bigint, \(columns)\"_unrepresentable\" text[])"
  }

  /// Inserts the rows of a JSON array, `$1`.
  func insertion(into table: String) -> String {
    let names = (["_id"] + columns.map(\.name) + ["_unrepresentable"]).map(\.sqlName)
      .joined(separator: ", ")
    return "INSERT INTO \(table) (\(names)) "
      + "SELECT \(names) FROM json_populate_recordset(NULL::\(table), $1::json)"
  }

  /// Inserts the rows of a JSON array, `$1`, or replaces those that exist.
  func replacement(in table: String) -> String {
    let assignments = (columns.map(\.name) + ["_unrepresentable"])
      .map { "\($0.sqlName) = excluded.\($0.sqlName)" }.joined(separator: ", ")
    return insertion(into: table) + " ON CONFLICT (\"_id\") DO UPDATE SET \(assignments)"
  }
}

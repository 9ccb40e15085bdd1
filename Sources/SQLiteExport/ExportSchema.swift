import EntityModel
import TextFormats

/// The tables, columns and indexes of an SQLite file for the schema of a store. It has no side
/// effects.
///
/// Each entity is a table with the number of a record as `_id`, and a column for each attribute. A
/// to-one relationship is a foreign key, a relationship whose links are records of a hidden entity
/// is a table of its own. A to-many relationship that the other side stores is not repeated.
struct ExportSchema {
  struct Column {
    enum Source {
      case number
      /// The attribute at this position.
      case attribute(Int)
      /// The record that a to-one relationship leads to.
      case relationship(String)
    }

    let name: String
    let source: Source
    let type: String
    /// The table to which a foreign key leads.
    var target: String?
  }

  struct Table {
    let name: String
    let entity: EntityDescription
    var columns: [Column]
    /// True for the links of a relationship.
    var isLink = false
    /// True if each link is stored once and has two rows.
    var isSymmetric = false
    /// The statements that create its indexes.
    var indexes: [String] = []
  }

  private(set) var tables: [Table] = []
  private var names = SQLiteNames()
  private var namesOfTables: [String: String] = [:]
  private let entities: [String: EntityDescription]

  /// - Parameter includesSystem: True to include the entities of the system.
  init(_ schema: Schema, includesSystem: Bool) {
    entities = Dictionary(uniqueKeysWithValues: schema.entities.map { ($0.name, $0) })
    let links = Self.links(of: schema)
    let shown = schema.entities.filter { !$0.isSystem }
    let system = schema.entities.filter { $0.isSystem && links[$0.name] == nil }
    let chosen = shown + (includesSystem ? system : [])
    for entity in chosen { namesOfTables[entity.name] = names.take(entity.name) }
    for entity in chosen { tables.append(table(of: entity)) }
    for entity in schema.entities {
      if let link = links[entity.name] { tables.append(table(of: entity, link)) }
    }
    for number in tables.indices { tables[number].indexes = indexes(of: tables[number]) }
  }

  // MARK: Entities

  private func table(of entity: EntityDescription) -> Table {
    var names = SQLiteNames()
    var columns = [Column(name: names.take("_id"), source: .number, type: "INTEGER PRIMARY KEY")]
    for (position, attribute) in entity.attributes.enumerated() {
      columns.append(
        Column(
          name: names.take(attribute.name), source: source(of: attribute, position, entity),
          type: Self.type(of: attribute.type.kind), target: target(of: attribute)))
    }
    for relationship in entity.relationships {
      guard case .key = relationship.storage else { continue }
      columns.append(
        Column(
          name: names.take(relationship.name), source: .relationship(relationship.name),
          type: "INTEGER", target: namesOfTables[relationship.destination]))
    }
    return Table(name: namesOfTables[entity.name] ?? entity.name, entity: entity, columns: columns)
  }

  /// Returns the source of an attribute. A reference to a record that may have been deleted since
  /// is read as the relationship, so that no foreign key leads to no row.
  private func source(
    of attribute: AttributeDescription, _ position: Int, _ entity: EntityDescription
  ) -> Column.Source {
    guard case .reference(let destination) = attribute.type,
      let relationship = entity.relationship(named: attribute.name),
      let inverse = entities[destination]?.relationship(named: relationship.inverse),
      inverse.deleteRule == .noAction
    else { return .attribute(position) }
    return .relationship(attribute.name)
  }

  private func target(of attribute: AttributeDescription) -> String? {
    guard case .reference(let destination) = attribute.type else { return nil }
    return namesOfTables[destination]
  }

  private static func type(of kind: ValueKind) -> String {
    switch kind {
    case .int64, .bool: "INTEGER"
    case .double: "REAL"
    case .data: "BLOB"
    case .string, .date, .uuid, .url, .decimal, .strings: "TEXT"
    }
  }

  // MARK: Links

  private struct Link {
    let owner: String
    let relationship: RelationshipDescription
  }

  /// Returns the relationships whose links are records, by the hidden entity, each seen from the
  /// side that its migration names first.
  private static func links(of schema: Schema) -> [String: Link] {
    var links: [String: Link] = [:]
    for entity in schema.entities {
      for relationship in entity.relationships {
        guard case .link(let name, _, _, _, _) = relationship.storage else { continue }
        if let known = links[name], known.relationship.id < relationship.id { continue }
        links[name] = Link(owner: entity.name, relationship: relationship)
      }
    }
    return links
  }

  private mutating func table(of entity: EntityDescription, _ link: Link) -> Table {
    let relationship = link.relationship
    var columns: [Column] = []
    var names = SQLiteNames()
    if case .link(_, let own, let other, let order, _) = relationship.storage {
      func add(_ attribute: Int, _ name: String, to target: String? = nil) {
        guard let position = entity.attributes.firstIndex(where: { $0.id == attribute }) else {
          return
        }
        columns.append(
          Column(
            name: names.take(name), source: .attribute(position), type: "INTEGER",
            target: target.flatMap { namesOfTables[$0] }))
      }
      let isSelf = link.owner == relationship.destination
      add(own, link.owner + "_id", to: link.owner)
      add(
        other, (isSelf ? relationship.name : relationship.destination) + "_id",
        to: relationship.destination)
      if let order { add(order, "position") }
      if case .link(_, _, _, let order?, _)? = inverse(of: link)?.storage,
        !isOwnInverse(link)
      {
        add(order, "inverse_position")
      }
    }
    return Table(
      name: self.names.take("\(link.owner)_\(relationship.name)"), entity: entity,
      columns: columns, isLink: true, isSymmetric: isOwnInverse(link))
  }

  private func inverse(of link: Link) -> RelationshipDescription? {
    entities[link.relationship.destination]?.relationship(named: link.relationship.inverse)
  }

  private func isOwnInverse(_ link: Link) -> Bool {
    link.owner == link.relationship.destination
      && link.relationship.inverse == link.relationship.name
  }

  // MARK: Statements

  /// Returns the statements for the indexes of the entity. Those on lists are left out: a list is
  /// one text here. The collation `caseInsensitive` is SQLite's NOCASE, which knows only ASCII, and
  /// the localized ones are binary, and dates are rounded: such indexes are not unique.
  private mutating func indexes(of table: Table) -> [String] {
    let name = table.name
    var statements: [String] = []
    func columns(_ keys: [String]) -> String { keys.joined(separator: ", ") }
    if table.isLink {
      let inverse = [table.columns[1], table.columns[0]].map { SQLiteNames.quoted($0.name) }
      let index = SQLiteNames.quoted(names.take("\(name)_inverse"))
      return ["CREATE INDEX \(index) ON \(table.quotedName) (\(columns(inverse)))"]
    }
    let attributes = Dictionary(
      uniqueKeysWithValues: zip(table.entity.attributes, table.columns.dropFirst())
        .map { ($0.id, (attribute: $0, column: $1)) })
    for index in table.entity.indexes {
      let keys = index.keys.compactMap { key in attributes[key.attributeID].map { (key, $0) } }
      if keys.count < index.keys.count { continue }
      if keys.contains(where: { $0.1.attribute.type.kind == .strings }) { continue }
      let isUnique =
        index.isUnique
        && keys.allSatisfy { $0.0.collation == .binary && $0.1.attribute.type.kind != .date }
      let parts = keys.map { key, found in
        SQLiteNames.quoted(found.column.name)
          + (key.collation == .caseInsensitive ? " COLLATE NOCASE" : "")
          + (key.isDescending ? " DESC" : "")
      }
      let quoted = SQLiteNames.quoted(names.take("\(name)_\(index.name)"))
      statements.append(
        "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(quoted) ON \(table.quotedName) "
          + "(\(columns(parts)))")
    }
    for column in table.columns.dropFirst(1 + table.entity.attributes.count) {
      let quoted = SQLiteNames.quoted(names.take("\(name)_\(column.name)"))
      statements.append(
        "CREATE INDEX \(quoted) ON \(table.quotedName) (\(SQLiteNames.quoted(column.name)))")
    }
    return statements
  }
}

extension ExportSchema.Table {
  fileprivate var quotedName: String { SQLiteNames.quoted(name) }

  var creation: String {
    let columns = columns.map { column in
      "\(SQLiteNames.quoted(column.name)) \(column.type)"
        + (column.target.map { " REFERENCES \(SQLiteNames.quoted($0)) (\"_id\")" } ?? "")
    }
    let key = self.columns.prefix(2).map { SQLiteNames.quoted($0.name) }.joined(separator: ", ")
    return "CREATE TABLE \(quotedName) (\n  "
      + (columns + (isLink ? ["PRIMARY KEY (\(key))"] : [])).joined(separator: ",\n  ")
      + "\n)" + (isLink ? " WITHOUT ROWID" : "")
  }

  var insertion: String {
    let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    return "INSERT INTO \(quotedName) VALUES (\(places))"
  }
}

/// Names of one namespace of SQLite, which does not distinguish the case of ASCII letters.
struct SQLiteNames {
  private var taken: Set<String> = []

  /// Returns the name, or the name with a number if it is taken.
  mutating func take(_ name: String) -> String {
    // SQLite keeps names with this beginning for itself.
    let base = name.lowercased().hasPrefix("sqlite_") ? "_" + name : name
    var (free, number) = (base, 1)
    while !taken.insert(free.lowercased()).inserted {
      number += 1
      free = "\(base)_\(number)"
    }
    return free
  }

  /// Returns the name in quotes: it may be a word of SQL.
  static func quoted(_ name: String) -> String { name.sqlName }
}

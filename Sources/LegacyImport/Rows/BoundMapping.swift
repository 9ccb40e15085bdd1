import EntityModel
import EntityStore

/// A mapping whose names are resolved to positions: of cells in the rows that are read, and of
/// attributes in the records. ``MappingCheck`` has found that the source has them all.
struct BoundMapping: Sendable {
  /// The tables that entities come from, in the order of the mapping.
  let tables: [BoundTable]
  let links: [BoundLink]
  /// The names by which rows are recognized, of tables whose names have changed.
  private let formerNames: [String: String]

  /// - Throws: `mapping` with the first thing that does not fit.
  init(_ mapping: ImportMapping, _ sources: [SourceTable], in snapshot: ReadTransaction) throws {
    var names: [String] = []
    for entity in mapping.entities where !names.contains(entity.table) {
      names.append(entity.table)
    }
    var tables: [BoundTable] = []
    for name in names {
      guard let table = sources.first(where: { $0.name == name }) else { throw Self.missing(name) }
      let entities = mapping.entities.filter { $0.table == name }
      tables.append(try BoundTable(table, entities.map { ($0, try snapshot.layout($0.entity)) }))
    }
    self.tables = tables
    formerNames = Dictionary(
      mapping.entities.compactMap { entity in entity.formerTable.map { (entity.table, $0) } },
      uniquingKeysWith: { first, _ in first })
    var links: [BoundLink] = []
    for (number, table) in tables.enumerated() {
      for (part, entity) in table.parts.enumerated() {
        for relationship in entity.mapping.relationships {
          links.append(
            try BoundLink(
              relationship, from: entity, table: number, part: part, sources: sources, in: snapshot)
          )
        }
      }
    }
    self.links = links
  }

  /// Returns the name by which the rows of a table are recognized.
  func identityName(of table: String) -> String {
    formerNames.isEmpty ? table : formerNames[table] ?? table
  }

  func table(named name: String) -> BoundTable? { tables.first { $0.table.name == name } }

  static func missing(_ table: String) -> ImportError {
    .inMapping(
      "the source has no such table", [("table", table)],
      advice: "correct the mapping, or create it again with `mooring import inspect`")
  }
}

/// A table with the entities that its rows become.
struct BoundTable: Sendable {
  let table: SourceTable
  /// The name by which its rows are recognized.
  let identityName: String
  /// The columns that are read.
  let columns: [String]
  /// The places of the key in `columns`.
  let key: [Int]
  let parts: [BoundEntity]

  init(_ table: SourceTable, _ mappings: [(EntityMapping, EntityLayout)]) throws {
    self.table = table
    identityName = mappings.first?.0.formerTable ?? table.name
    var columns: [String] = []
    func place(_ column: String) -> Int {
      if let known = columns.firstIndex(of: column) { return known }
      columns.append(column)
      return columns.count - 1
    }
    key = (mappings.first?.0.key ?? []).map(place)
    var parts: [BoundEntity] = []
    for (mapping, layout) in mappings {
      parts.append(try BoundEntity(mapping, layout: layout, place: place))
    }
    self.parts = parts
    self.columns = columns
  }

  /// Returns the table without its attributes: the key, the columns of the filters, and those of
  /// one relationship.
  func slim(relationship: String?) throws -> BoundTable {
    try BoundTable(
      table,
      parts.map { part in
        var mapping = part.mapping
        mapping.attributes = []
        mapping.match = []
        mapping.relationships = mapping.relationships.filter { $0.relationship == relationship }
        return (mapping, part.layout)
      })
  }

  func key(of row: SourceRow) -> [Cell] { key.map { row.cells[$0] } }
}

/// An entity that rows of a table become.
///
/// A class, as it is asked for with each row, and a copy would take a reference to all that it
/// holds.
final class BoundEntity: Sendable {
  struct Attribute: Sendable {
    let mapping: AttributeMapping
    /// The position in the record.
    let position: Int
    /// The position in the row; `nil` for a constant.
    let cell: Int?
  }

  struct Condition: Sendable {
    let cell: Int
    let words: Set<String?>
    let isOneOf: Bool
  }

  let mapping: EntityMapping
  /// The layout at the beginning of the run.
  let layout: EntityLayout
  let conditions: [Condition]
  let attributes: [Attribute]
  /// The positions of the attributes, in their order.
  let positions: [Int]
  /// The cells that lead to other rows. A change of them is a change of the row.
  let references: [Int]

  init(
    _ mapping: EntityMapping, layout: EntityLayout, place: (String) -> Int
  ) throws {
    self.mapping = mapping
    self.layout = layout
    conditions =
      mapping.filter.isOneOf.sorted { $0.key < $1.key }.map {
        Condition(cell: place($0.key), words: $0.value, isOneOf: true)
      }
      + mapping.filter.isNoneOf.sorted { $0.key < $1.key }.map {
        Condition(cell: place($0.key), words: $0.value, isOneOf: false)
      }
    attributes = try mapping.attributes.map { attribute in
      guard let position = layout.positions[attribute.attribute] else {
        throw ImportError.inMapping(
          "the entity has no such attribute",
          [("entity", mapping.entity), ("attribute", attribute.attribute)],
          advice: "correct the mapping, or add the attribute with a migration")
      }
      let cell: Int? =
        if case .column(let column) = attribute.source { place(column) } else { nil }
      return Attribute(mapping: attribute, position: position, cell: cell)
    }
    positions = attributes.map(\.position)
    references = mapping.relationships.flatMap { relationship in
      guard case .columns(let columns) = relationship.source else { return [Int]() }
      return columns.map(place)
    }
  }

  /// Returns the layout in a transaction: during a migration each chunk has a new one.
  ///
  /// - Throws: `mapping` if its attributes are others now.
  func layout(in transaction: ReadTransaction) throws -> EntityLayout {
    let current = try transaction.layout(mapping.entity)
    guard current === layout || current.description.attributes == layout.description.attributes
    else {
      throw ImportError(
        .mapping, "the schema was changed during the import", [("entity", mapping.entity)],
        advice: "run the import again")
    }
    return current
  }

  /// Returns true if the filter of the entity takes the row.
  func takes(_ row: SourceRow) -> Bool {
    conditions.allSatisfy { condition in
      condition.words.contains(row.cells[condition.cell].word) == condition.isOneOf
    }
  }
}

/// A relationship with the source of its links.
struct BoundLink: Sendable {
  enum Source: Sendable {
    /// Cells of the rows of the entity.
    case columns
    /// Rows with the keys of an owner and of another row.
    case join(SourceTable, owner: [String], target: [String], order: String?)
  }

  let mapping: RelationshipMapping
  let entity: String
  /// The place of the table in `BoundMapping.tables`, and of the entity in its parts.
  let table: Int
  let part: Int
  let isOrdered: Bool
  let source: Source
  /// The destination.
  let destination: String
  /// True if a record at its end can be linked with one record only.
  let isExclusive: Bool
  /// True if the relationship is its own inverse.
  let isOwnInverse: Bool

  init(
    _ mapping: RelationshipMapping, from entity: BoundEntity, table: Int, part: Int,
    sources: [SourceTable], in snapshot: ReadTransaction
  ) throws {
    self.mapping = mapping
    self.entity = entity.mapping.entity
    self.table = table
    self.part = part
    guard
      let description = entity.layout.description.relationship(named: mapping.relationship),
      let inverse = try snapshot.description(of: description.destination)
        .relationship(named: description.inverse)
    else {
      throw ImportError.inMapping(
        "the entity has no such relationship",
        [("relationship", "\(entity.mapping.entity).\(mapping.relationship)")],
        advice: "correct the mapping, or add it with a migration")
    }
    isOrdered = description.isOrdered
    destination = description.destination
    isExclusive = !inverse.isToMany
    isOwnInverse =
      description.destination == self.entity && description.inverse == mapping.relationship
    switch mapping.source {
    case .columns: source = .columns
    case .join(let name, let owner, let target, let order):
      guard let joined = sources.first(where: { $0.name == name }) else {
        throw BoundMapping.missing(name)
      }
      source = .join(joined, owner: owner, target: target, order: order)
    }
  }

  /// `Entity.relationship`, as reports name it.
  var name: String { "\(entity).\(mapping.relationship)" }
}

extension Cell {
  /// The word that a filter compares; `nil` is null. Bytes have no word.
  var word: String? {
    switch self {
    case .null: nil
    case .integer(let number): String(number)
    case .real(let number): Int64(exactly: number).map(String.init) ?? number.description
    case .text(let text): text
    case .badText, .blob, .oversized: ""
    }
  }
}

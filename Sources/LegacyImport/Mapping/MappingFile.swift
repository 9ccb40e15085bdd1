package import EntityModel
import SchemaFiles
package import StrictYAML

/// Reads and writes the file of an ``ImportMapping``, in the YAML dialect of migrations.
///
/// ```yaml
/// import: podcasts
/// dialect: coreData
/// rejects: 0.1%
/// entities:
///   - entity: Article
///     table: ZITEM
///     where: { Z_ENT: [3] }
///     unless: { ZDELETED: [1] }
///     key: [Z_PK]
///     match: [guid]
///     attributes:
///       title: ZTITLE
///       publishedAt: { column: ZPUBLISHEDAT, date: coreDataSeconds, nullValues: [0] }
///       kind: { value: article }
///       artwork: { column: ZARTWORK, external: true }
///       chapters: { column: ZCHAPTERS, archive: [NSArray, NSString], keepBytes: true }
///       summary: { column: ZSUMMARY, badText: latin1 }
///       state: { column: ZSTATE, unconfirmed: "0 and 1 only: bool or int64?" }
///     relationships:
///       feed: { column: ZFEED, table: ZFEED, orphan: drop }
///       playlists: { join: Z_4LISTS, owner: Z_4ITEMS, target: Z_6LISTS, table: ZLIST }
/// skip:
///   tables: [ACHANGE]
///   columns: { ZITEM: [Z_OPT] }
/// ```
package enum MappingFile {
  /// Reads a mapping against the schema that it maps to: the keys of a conversion depend on the
  /// type of the attribute. ``MappingCheck`` checks it against the source.
  ///
  /// - Parameter root: A whole file, or a part of another one.
  /// - Returns: The mapping, without evidence, for comments are not read.
  /// - Throws: `YAMLError` at the first place that is wrong, with what to write there.
  package static func read(_ root: YAMLNode, schema: Schema) throws -> ImportMapping {
    try withReference {
      var reader = MappingReader(schema: schema)
      return try reader.mapping(root)
    }
  }

  /// Parses a file without reading the mapping in it.
  ///
  /// - Parameter file: The name that errors carry, usually the path.
  static func parse(_ bytes: [UInt8], file: String) throws -> YAMLNode {
    try withReference { try YAMLDocument.parse(bytes: bytes, file: file) }
  }

  /// The end of each error message about a mapping.
  package static let reference = "see \"Import mapping reference\" in the documentation"

  private static func withReference<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as YAMLError {
      throw YAMLError(
        file: error.file, line: error.line, column: error.column,
        summary: "\(error.summary); \(reference)")
    }
  }
}

extension ImportError {
  /// An error about a mapping, which ends with a pointer to the documentation.
  static func inMapping(
    _ summary: StaticString, _ context: [(String, String)], advice: String? = nil,
    code: Code = .mapping
  ) -> ImportError {
    ImportError(
      code, summary, context,
      advice: [advice, MappingFile.reference].compactMap { $0 }.joined(separator: "; "))
  }
}

struct MappingReader {
  /// A relationship with its node in the file.
  struct Link {
    let node: YAMLNode
    let relationship: RelationshipDescription
    let mapping: RelationshipMapping
  }

  let schema: Schema
  /// The relationships, which are checked when all entities are known.
  private var links: [Link] = []

  init(schema: Schema) { self.schema = schema }

  mutating func mapping(_ root: YAMLNode) throws -> ImportMapping {
    var keys = try root.mapping()
    var mapping = ImportMapping(
      name: try name(keys.required("import")),
      dialect: try keys.required("dialect").choice(named: "dialect"))
    if let node = keys.optional("rejects") { mapping.rejectLimit = try rejectLimit(node) }
    if let node = keys.optional("lostTables") { mapping.lostTables = try lostTables(node) }
    let entities = try keys.required("entities").sequence()
    for node in entities { mapping.entities.append(try entity(node)) }
    if let node = keys.optional("skip") { try readSkipped(node, into: &mapping) }
    try keys.finish()
    for link in links { try checkEnd(of: link, mapping) }
    for (node, entity) in zip(entities, mapping.entities) {
      try checkRequiredLinks(of: entity, at: node)
    }
    return mapping
  }

  private func name(_ node: YAMLNode) throws -> String {
    let name = try node.string()
    guard ImportMapping.isName(name) else {
      throw node.error(
        "\"\(name)\" is not a valid name of an import; use at most 64 lower-case letters, "
          + "digits, - and ., "
          + "a letter first")
    }
    return name
  }

  private func rejectLimit(_ node: YAMLNode) throws -> RejectLimit {
    let text = try node.string()
    if text.hasSuffix("%") {
      guard let limit = RejectLimit(percentage: String(text.dropLast())) else {
        throw node.error("write a share of the rows as a percentage from 0% to 100%, as 0.1%")
      }
      return limit
    }
    let count = try node.int()
    if count < 0 { throw node.error("the number of rejected rows is 0 or more") }
    return .count(count)
  }

  private func lostTables(_ node: YAMLNode) throws -> [String: String] {
    var tables: [String: String] = [:]
    var keys = try node.mapping()
    for (table, _) in keys.keys {
      let node = try keys.required(table)
      let statement = try node.string()
      guard statement.uppercased().hasPrefix("CREATE TABLE ") else {
        throw node.error("write the statement that creates the table: CREATE TABLE …")
      }
      tables[table] = statement
    }
    return tables
  }

  private func readSkipped(_ node: YAMLNode, into mapping: inout ImportMapping) throws {
    var keys = try node.mapping()
    if let tables = keys.optional("tables") {
      mapping.skippedTables = Set(try names(tables, "table", mayBeEmpty: true))
    }
    if let node = keys.optional("columns") {
      var tables = try node.mapping()
      for (table, _) in tables.keys {
        mapping.skippedColumns[table] = Set(try names(try tables.required(table), "column"))
      }
    }
    try keys.finish()
  }

  // MARK: Relationships between entities

  /// Checks that the rows at the end of a relationship become records of its destination.
  private func checkEnd(of link: Link, _ mapping: ImportMapping) throws {
    let destination = link.relationship.destination
    let tables = mapping.entities.filter { $0.entity == destination }.map(\.table)
    if tables.contains(link.mapping.table) { return }
    let advice =
      tables.isEmpty
      ? "map a table to \(destination), or remove the relationship"
      : "its records come from \(Set(tables).sorted().joined(separator: ", "))"
    throw link.node.error(
      "\(link.mapping.relationship) leads to \(destination), which no row of the table "
        + "\"\(link.mapping.table)\" becomes; \(advice)")
  }

  /// Checks that no link is required: records are written before their links.
  private func checkRequiredLinks(of mapped: EntityMapping, at node: YAMLNode) throws {
    guard let entity = schema.entity(named: mapped.entity) else { return }
    for relationship in entity.relationships
    where !relationship.isOptional && !relationship.isToMany && !relationship.isLinkedByKey {
      throw node.error(
        "\(entity.name).\(relationship.name) is required, but records are written before their "
          + "links; make it optional in a migration")
    }
  }

  // MARK: Parts

  mutating func add(_ link: Link) { links.append(link) }

  /// Returns names, none of which may occur twice.
  func names(_ node: YAMLNode, _ what: String, mayBeEmpty: Bool = false) throws -> [String] {
    var names: [String] = []
    var known: Set<String> = []
    for element in try node.sequence() {
      let name = try element.string()
      guard known.insert(name).inserted else {
        throw element.error("the \(what) \"\(name)\" occurs twice; remove one")
      }
      names.append(name)
    }
    if names.isEmpty, !mayBeEmpty {
      throw node.error("name at least one \(what), or leave the key out")
    }
    return names
  }
}

extension RelationshipDescription {
  /// True if equal values form the link on this side, so that none is stored.
  var isLinkedByKey: Bool { if case .key = storage { true } else { false } }
}

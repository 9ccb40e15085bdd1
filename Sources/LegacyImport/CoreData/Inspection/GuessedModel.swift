/// A model for a file that holds none, derived from its entities and from the upper-case names and
/// declared types of its columns. Each guess that may be wrong is a doubt, which a person must
/// confirm.
struct GuessedModel {
  private(set) var doubts: [StoreLayout.Property: String] = [:]
  private var entities: [String: ManagedObjectModel.Entity]
  private var hasNumbers = false
  private let skeleton: ManagedObjectModel
  private let layout: StoreLayout
  private let facts: [String: TableFacts]
  private let namesByNumber: [Int64: String]
  /// The root entity of each table.
  private let roots: [String: String]

  /// Returns a model of the entities without properties.
  static func skeleton(_ entities: [NumberedEntity]) throws(ArchiveDamage) -> ManagedObjectModel {
    let own = entities.filter { !$0.isOfTheSystem }
    let names = Dictionary(
      own.map { ($0.number, $0.name) }, uniquingKeysWith: { first, _ in first })
    return try ManagedObjectModel(
      entities: own.map { .init(name: $0.name, superentity: names[$0.above]) })
  }

  init(
    _ skeleton: ManagedObjectModel, _ layout: StoreLayout, _ facts: [String: TableFacts],
    _ tables: [SourceTable]
  ) {
    self.skeleton = skeleton
    self.layout = layout
    self.facts = facts
    entities = Dictionary(
      skeleton.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    namesByNumber = Dictionary(
      layout.numbers.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
    let placed = skeleton.entities.filter { $0.superentity == nil }
    roots = Dictionary(
      placed.compactMap { root in layout.tables[root.name].map { ($0, root.name) } },
      uniquingKeysWith: { first, _ in first })
    for table in tables {
      if let root = roots[table.name] {
        for column in table.columns { add(column, of: table, root) }
        markAbstract(table.name, root)
      } else if table.kind == .table, JoinTables.isJoinTable(table) {
        addLinks(table)
      }
    }
  }

  /// Returns the model with what was guessed.
  func model() throws(ArchiveDamage) -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: entities.values.map { entity in
        var entity = entity
        entity.attributes.sort { $0.name < $1.name }
        entity.relationships.sort { $0.name < $1.name }
        return entity
      })
  }

  var warnings: [String] {
    let numbers =
      "whole numbers are kept as numbers: without a model the file does not show which "
      + "are booleans or relationships"
    let names =
      "names are in lower case: without a model the file does not have their original spelling"
    return hasNumbers ? [numbers, names] : [names]
  }

  /// Marks an entity without rows that has subentities as abstract.
  private mutating func markAbstract(_ table: String, _ root: String) {
    guard let facts = facts[table], facts.isComplete else { return }
    for entity in skeleton.subtree(of: root) where skeleton.subtree(of: entity.name).count > 1 {
      guard let number = layout.numbers[entity.name], facts.rows(of: number) == 0 else { continue }
      entities[entity.name]?.isAbstract = true
    }
  }

  // MARK: Columns

  private mutating func add(_ column: SourceColumn, of table: SourceTable, _ root: String) {
    let name = column.name
    guard name.hasPrefix("Z"), name.count > 1, !name.hasPrefix("Z_FOK_"),
      ![StoreLayout.keyColumn, StoreLayout.entityColumn, StoreLayout.versionColumn].contains(name)
    else { return }
    let plain = String(name.dropFirst())
    if let end = JoinTables.End("Z_" + plain) {
      // `Z1_FEED` says which entity `ZFEED` leads to; `Z1TAGS` has the key of an owner.
      if !end.name.hasPrefix("_") { addOneSided(end, to: root) }
      return
    }
    let declarer = declarer(of: name, in: table.name, root)
    if let (destination, doubt) = destination(of: column, plain, table, root) {
      let relationship = ManagedObjectModel.Relationship(
        name: plain.lowercased(), destination: destination)
      addReference(
        relationship, of: declarer, doubt, isOrdered: table.column("Z_FOK_" + plain) != nil)
    } else {
      addAttribute(plain.lowercased(), column, of: declarer, in: table.name)
    }
  }

  private func declarer(of column: String, in table: String, _ root: String) -> String {
    let filling = facts[table]?.entities(filling: column) ?? []
    guard filling.count == 1 else { return root }
    return namesByNumber[filling[0]] ?? root
  }

  private func destination(
    of column: SourceColumn, _ plain: String, _ table: SourceTable, _ root: String
  ) -> (entity: String, doubt: String?)? {
    for other in table.columns {
      if let end = JoinTables.End("Z_" + other.name.dropFirst()), end.name == "_" + plain,
        let name = namesByNumber[end.number]
      {
        return (name, nil)
      }
    }
    let isOrdered = table.column("Z_FOK_" + plain) != nil
    if let named = roots["Z" + plain] {
      let holdsKeys = column.declaredType.uppercased() == "INTEGER"
      guard holdsKeys || isOrdered else { return nil }
      return (
        named, isOrdered ? nil : "it is called like the entity \(named): a link, or a number?"
      )
    }
    guard isOrdered, roots.count == 1 else { return nil }
    return (root, "it has an order, so it is a link; to \(root)?")
  }

  private mutating func addReference(
    _ relationship: ManagedObjectModel.Relationship, of declarer: String, _ doubt: String?,
    isOrdered: Bool
  ) {
    var relationship = relationship
    if isOrdered {
      // The order is of the other side, whose name is unknown.
      var back = ManagedObjectModel.Relationship(
        name: "\(declarer.lowercased())s_\(relationship.name)", destination: declarer,
        inverse: relationship.name)
      back.isToMany = true
      back.isOrdered = true
      relationship.inverse = back.name
      entities[relationship.destination]?.relationships.append(back)
    }
    entities[declarer]?.relationships.append(relationship)
    doubts[.init(declarer, relationship.name)] = doubt
    if let inverse = relationship.inverse {
      doubts[.init(relationship.destination, inverse)] = doubt
    }
  }

  private mutating func addOneSided(_ end: JoinTables.End, to root: String) {
    guard let owner = namesByNumber[end.number] else { return }
    var relationship = ManagedObjectModel.Relationship(
      name: end.name.lowercased(), destination: root)
    relationship.isToMany = true
    entities[owner]?.relationships.append(relationship)
    doubts[.init(owner, relationship.name)] = "guessed from the name of the column"
  }

  private mutating func addAttribute(
    _ name: String, _ column: SourceColumn, of declarer: String, in table: String
  ) {
    var attribute = ManagedObjectModel.Attribute(name: name, type: .string)
    let found = facts[table]?.facts(of: column.name) ?? ColumnFacts()
    switch column.declaredType.uppercased() {
    case "TIMESTAMP": attribute.type = .date
    case "FLOAT": attribute.type = .double
    case "DECIMAL": attribute.type = .decimal
    case "INTEGER":
      attribute.type = .int64
      hasNumbers = true
    case "BLOB":
      attribute.type = .binary
      if found.blobs > 0, found.blobsOfNoStorage == 0 {
        attribute.isExternal = true
        doubts[.init(declarer, name)] = "all begin as if long values were in files: are they?"
      }
    default: break
    }
    entities[declarer]?.attributes.append(attribute)
  }

  // MARK: Tables of links

  private mutating func addLinks(_ table: SourceTable) {
    let columns = JoinTables.ends(of: table)
    let ends = columns.compactMap { JoinTables.End($0) }
    let doubt = "guessed from the columns of \(table.name)"
    func isOrdered(_ column: String) -> Bool {
      table.column("Z_FOK_" + column.dropFirst("Z_".count)) != nil
    }
    if ends.count == 1, let entity = namesByNumber[ends[0].number] {
      add(links: ends[0], of: entity, to: entity, inverse: ends[0], false, doubt)
    } else if ends.count == 2, let first = namesByNumber[ends[0].number],
      let second = namesByNumber[ends[1].number]
    {
      add(links: ends[1], of: first, to: second, inverse: ends[0], isOrdered(columns[1]), doubt)
      add(links: ends[0], of: second, to: first, inverse: ends[1], isOrdered(columns[0]), doubt)
    }
  }

  private mutating func add(
    links end: JoinTables.End, of owner: String, to destination: String, inverse: JoinTables.End,
    _ isOrdered: Bool, _ doubt: String
  ) {
    let name = end.name.lowercased()
    var relationship = ManagedObjectModel.Relationship(
      name: name, destination: destination, inverse: inverse.name.lowercased())
    relationship.isToMany = true
    relationship.isOrdered = isOrdered
    entities[owner]?.relationships.append(relationship)
    doubts[.init(owner, name)] = doubt
  }
}

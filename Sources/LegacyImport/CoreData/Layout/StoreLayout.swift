/// The tables and columns of the properties of a model.
///
/// ```
/// table of a root entity     Z<ROOT>           its rows and those of all entities below it
///   key, entity, version     Z_PK Z_ENT Z_OPT
///   attribute                Z<NAME>           the same name in another branch: Z<NAME>1
///   to-one                   Z<NAME>           the key of the other row
///     its entity             Z<n>_<NAME>       if the destination has entities below it
///     its place              Z_FOK_<NAME>      if the inverse is ordered
///   to-many without inverse  Z<owner><NAME>    in the table of the destination
/// table of a many-to-many    Z_<n><NAME>
///   either end               Z_<n><NAME>       n: whose key it is; name: the relationship that
///                                              leads there; digits may follow; REFLEXIVE for
///                                              the other end of one that is its own inverse
///   place of an end          Z_FOK_<n><NAME>
/// ```
///
/// Names are in upper case; numbers are those of `EntityNumbers`. Columns that these rules predict
/// and the file does not have are `missing`; columns that they do not predict are `unexplained`.
package struct StoreLayout: Hashable, Sendable {
  /// A property and the entity that declares it.
  package struct Property: Hashable, Sendable {
    package let entity: String
    package let name: String

    package init(_ entity: String, _ name: String) {
      self.entity = entity
      self.name = name
    }
  }

  /// The columns of a to-one relationship.
  struct Reference: Hashable, Sendable {
    let table: String
    let column: String
    var entityColumn: String?
    var orderColumn: String?
  }

  /// The columns of a many-to-many relationship, seen from one end.
  struct Join: Hashable, Sendable {
    let table: String
    let owner: String
    let target: String
    let order: String?
  }

  static let keyColumn = "Z_PK"
  static let entityColumn = "Z_ENT"
  static let versionColumn = "Z_OPT"

  private(set) var numbers: [String: Int64]
  /// The table of each entity, if it is there.
  private(set) var tables: [String: String] = [:]
  private(set) var attributes: [Property: String] = [:]
  /// The columns of to-one relationships and, under the name of its owner, of a to-many one without
  /// an inverse.
  private(set) var references: [Property: Reference] = [:]
  private(set) var joins: [Property: Join] = [:]
  /// The columns that the model does not predict, by table, in the order of the file.
  package private(set) var unexplained: [String: [String]] = [:]
  /// The tables and columns that the model predicts and the file does not have.
  package private(set) var missing: [String] = []
  package private(set) var columnsExplained = 0
  package private(set) var columnsTotal = 0

  package init(of model: ManagedObjectModel, numbers: EntityNumbers, in tables: [SourceTable]) {
    self.numbers = numbers.byName
    let tablesByName = Dictionary(
      tables.filter { $0.kind == .table }.map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first })
    var names = ColumnNames()
    for root in model.entities where root.superentity == nil {
      placeTree(of: root, model, tablesByName, &names)
    }
    placeDestinationColumns(model, tablesByName)
    var joinTables = JoinTables(among: tables)
    placeJoins(model, &joinTables)
    count(tablesByName, joinTables.used)
  }

  // MARK: Tables of entities

  private mutating func placeTree(
    of root: ManagedObjectModel.Entity, _ model: ManagedObjectModel,
    _ tablesByName: [String: SourceTable], _ names: inout ColumnNames
  ) {
    guard let table = tablesByName["Z" + root.name.uppercased()] else {
      missing.append("the table Z\(root.name.uppercased())")
      return
    }
    let columns = Set(table.columns.map(\.name))
    // The numbers give the order in which equal names get their digits.
    let tree = model.subtree(of: root.name).sorted {
      (numbers[$0.name] ?? .max, $0.name) < (numbers[$1.name] ?? .max, $1.name)
    }
    for entity in tree {
      tables[entity.name] = table.name
      for attribute in entity.attributes where !attribute.isTransient {
        let column = names.next(for: attribute.name, in: table.name)
        if columns.contains(column) {
          attributes[Property(entity.name, attribute.name)] = column
        } else {
          missing.append("the column \(table.name).\(column) of \(entity.name).\(attribute.name)")
        }
      }
      for relationship in entity.relationships
      where !relationship.isTransient && !relationship.isToMany {
        let column = names.next(for: relationship.name, in: table.name)
        guard columns.contains(column) else {
          missing.append(
            "the column \(table.name).\(column) of \(entity.name).\(relationship.name)")
          continue
        }
        references[Property(entity.name, relationship.name)] = reference(
          table.name, column, to: numbers[relationship.destination], columns)
      }
    }
  }

  private func reference(
    _ table: String, _ column: String, to number: Int64?, _ columns: Set<String>
  ) -> Reference {
    var reference = Reference(table: table, column: column)
    let name = column.dropFirst()
    let order = "Z_FOK_\(name)"
    if columns.contains(order) { reference.orderColumn = order }
    if let number, columns.contains("Z\(number)_\(name)") {
      reference.entityColumn = "Z\(number)_\(name)"
    }
    return reference
  }

  /// Finds the columns of to-many relationships without an inverse, which are in the table of the
  /// destination.
  private mutating func placeDestinationColumns(
    _ model: ManagedObjectModel, _ tablesByName: [String: SourceTable]
  ) {
    for entity in model.entities {
      guard let number = numbers[entity.name] else { continue }
      for relationship in entity.relationships
      where relationship.isToMany && !relationship.isTransient && relationship.inverse == nil {
        guard let name = tables[relationship.destination], let table = tablesByName[name] else {
          continue
        }
        let column = "Z\(number)\(relationship.name.uppercased())"
        let columns = Set(table.columns.map(\.name))
        guard columns.contains(column) else {
          missing.append("the column \(name).\(column) of \(entity.name).\(relationship.name)")
          continue
        }
        references[Property(entity.name, relationship.name)] = reference(
          name, column, to: number, columns)
      }
    }
  }

  // MARK: Tables of many-to-many relationships

  private mutating func placeJoins(_ model: ManagedObjectModel, _ joinTables: inout JoinTables) {
    for entity in model.entities {
      for relationship in entity.relationships
      where relationship.isToMany && !relationship.isTransient {
        let property = Property(entity.name, relationship.name)
        guard joins[property] == nil, let inverse = model.inverse(of: relationship),
          inverse.relationship.isToMany
        else { continue }
        let back = Property(inverse.entity.name, inverse.relationship.name)
        guard let number = numbers[entity.name], let other = numbers[inverse.entity.name] else {
          continue
        }
        let target = "Z_\(other)\(relationship.name.uppercased())"
        let owner =
          back == property
          ? JoinTables.reflexive : "Z_\(number)\(inverse.relationship.name.uppercased())"
        guard let join = joinTables.take(owner: owner, target: target) else {
          missing.append("the table of \(entity.name).\(relationship.name)")
          continue
        }
        joins[property] = join
        guard back != property else { continue }
        joins[back] = joinTables.reversed(join)
      }
    }
  }

  // MARK: Coverage

  private mutating func count(_ tablesByName: [String: SourceTable], _ joinTables: Set<String>) {
    var known: [String: Set<String>] = [:]
    for table in Set(tables.values) {
      known[table] = [Self.keyColumn, Self.entityColumn, Self.versionColumn]
    }
    for (property, column) in attributes {
      if let table = tables[property.entity] { known[table, default: []].insert(column) }
    }
    for reference in references.values {
      let columns = [reference.column, reference.entityColumn, reference.orderColumn]
      known[reference.table, default: []].formUnion(columns.compactMap(\.self))
    }
    for join in joins.values {
      let columns = [join.owner, join.target, join.order]
      known[join.table, default: []].formUnion(columns.compactMap(\.self))
    }
    for (name, columns) in known {
      guard let table = tablesByName[name] else { continue }
      columnsTotal += table.columns.count
      let left = table.columns.map(\.name).filter { !columns.contains($0) }
      columnsExplained += table.columns.count - left.count
      if !left.isEmpty { unexplained[name] = left }
    }
    missing.sort()
  }
}

/// The names of columns that are used, by table.
private struct ColumnNames {
  private var taken: Set<String> = []
  private var lastDigits: [String: Int] = [:]

  /// Returns the column of a property: the second property of the same name in a table gets the
  /// digit 1, the third one 2.
  mutating func next(for property: String, in table: String) -> String {
    let name = "Z" + property.uppercased()
    let place = "\(table).\(name)"
    while true {
      let digits = lastDigits[place, default: 0]
      lastDigits[place] = digits + 1
      let column = digits == 0 ? name : "\(name)\(digits)"
      if taken.insert("\(table).\(column)").inserted { return column }
    }
  }
}

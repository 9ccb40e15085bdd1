import EntityModel
import Migrations

/// Brings a mapping up to date with a newer version of its file: an application has changed its
/// model, and the file has other tables and columns.
///
/// What a person has edited stays. Sources that have moved are corrected, sources that are gone are
/// removed, and what is new is added as an inspection proposes it.
struct MappingUpdate {
  private(set) var mapping: ImportMapping
  private(set) var additions: SchemaAdditions
  /// The changes, each on one line.
  private(set) var changes: [String] = []
  /// Warnings about what is no longer imported, each on one line.
  private(set) var warnings: [String] = []

  private let old: ImportMapping
  private let suggested: SuggestedImport
  private let tables: [SourceTable]
  /// The entities of the store, by the names that the inspection proposes.
  private var targets: [String: Set<String>] = [:]

  /// - Parameters:
  ///   - old: A mapping of an earlier version of the file.
  ///   - suggested: The proposal for the file as it is now.
  ///   - schema: What the mapping maps to.
  ///   - tables: Those of the file as it is now.
  init(
    of old: ImportMapping, with suggested: SuggestedImport, _ schema: Schema,
    in tables: [SourceTable]
  ) {
    self.old = old
    self.suggested = suggested
    self.tables = tables
    mapping = old
    additions = SchemaAdditions(to: schema)
    let pairing = EntityPairing(old, suggested)
    warnings += pairing.warnings
    updateEntities(pairing.pairs)
    updateSkipped()
  }

  // MARK: Entities

  private mutating func updateEntities(_ pairs: [Int: Int]) {
    for (number, place) in pairs {
      targets[suggested.mapping.entities[place].entity, default: []]
        .insert(old.entities[number].entity)
    }
    mapping.entities = []
    var links: [(place: Int, new: EntityMapping, known: [RelationshipMapping])] = []
    for (number, entity) in old.entities.enumerated() {
      guard let place = pairs[number] else {
        keep(entity)
        continue
      }
      let new = suggested.mapping.entities[place]
      links.append((mapping.entities.count, new, entity.relationships))
      mapping.entities.append(updated(entity, with: new))
    }
    let paired = Set(pairs.values)
    for (place, new) in suggested.mapping.entities.enumerated()
    where !paired.contains(place) && !old.skippedTables.contains(new.table) {
      guard let entity = added(new) else { continue }
      links.append((mapping.entities.count, new, []))
      mapping.entities.append(entity)
    }
    // Relationships lead to entities that are all known now.
    for (place, new, known) in links {
      mapping.entities[place].relationships = relationships(
        known, of: mapping.entities[place], new)
    }
  }

  /// Keeps an entry that the inspection does not propose, if the file has the table for it.
  private mutating func keep(_ entity: EntityMapping) {
    let isProposed = suggested.mapping.entities.contains { $0.table == entity.table }
    let names = Set(table(entity.table)?.columns.map(\.name) ?? [])
    guard !isProposed, names.isSuperset(of: entity.key) else {
      warnings.append(
        "\(entity.entity) is no longer imported: the file has no rows of \(entity.table) for it; "
          + "its records stay")
      return
    }
    var kept = entity
    kept.attributes.removeAll { attribute in
      guard case .column(let column) = attribute.source, !names.contains(column) else {
        return false
      }
      warn(gone: attribute.attribute, of: entity, column)
      return true
    }
    mapping.entities.append(kept)
  }

  private mutating func updated(_ old: EntityMapping, with new: EntityMapping) -> EntityMapping {
    var entity = old
    if old.table != new.table {
      entity.table = new.table
      entity.formerTable = old.formerTable ?? old.table
      changes.append("\(old.entity) comes from the table \(new.table) now, before \(old.table)")
    }
    for (column, words) in new.filter.isOneOf where old.filter.isOneOf[column] != nil {
      entity.filter.isOneOf[column] = words
    }
    let source = AttributeUpdate(
      entity: old, new: new, former: suggested.formerNames,
      skipped: self.old.skippedColumns[old.table] ?? [],
      columns: Set(table(new.table)?.columns.map(\.name) ?? []))
    entity.attributes = source.kept.map(\.attribute)
    for (attribute, before) in source.kept {
      guard let before, case .column(let column) = attribute.source else { continue }
      changes.append(
        "\(old.entity).\(attribute.attribute) is read from \(column) now, before \(before)")
    }
    for (attribute, column) in source.gone { warn(gone: attribute, of: old, column) }
    let descriptions = descriptions(of: new.entity)
    for attribute in source.new {
      guard let description = descriptions.first(where: { $0.name == attribute.attribute })
      else { continue }
      add(attribute, description, to: &entity)
    }
    let names = Set(entity.attributes.map(\.attribute))
    if !names.isSuperset(of: entity.match) {
      warnings.append("\(entity.entity) is no longer matched: an attribute of match is gone")
      entity.match = []
    }
    return entity
  }

  private mutating func add(
    _ attribute: AttributeMapping, _ description: AttributeDescription,
    to entity: inout EntityMapping
  ) {
    var added = attribute
    let steps = additions.steps.count
    if case .constant(let value) = attribute.source, let kind = kindAttribute(of: entity.entity) {
      added.attribute = kind
      additions.addCase(value, to: kind, of: entity.entity)
    } else {
      added.attribute = additions.attribute(
        description, of: entity.entity, besides: Set(entity.attributes.map(\.attribute)))
    }
    added.type = additions.type(of: added.attribute, entity.entity) ?? attribute.type
    let isOwn = old.entities.contains { other in
      other.entity == entity.entity
        && other.attributes.contains { $0.attribute == added.attribute }
    }
    if additions.steps.count == steps, !isOwn {
      added.unconfirmed = "\(entity.entity) has this attribute already: a run replaces its values"
    }
    added.evidence.append(Self.newText)
    entity.attributes.append(added)
    changes.append("new: \(entity.entity).\(added.attribute)")
  }

  /// Adds an entry for rows that the mapping does not know.
  private mutating func added(_ new: EntityMapping) -> EntityMapping? {
    let known = targets[new.entity, default: []]
    guard known.count <= 1 else {
      warnings.append(
        "rows of \(new.table) are not imported, since they could become each of "
          + known.sorted().joined(separator: ", ") + "; add an entry for them")
      return nil
    }
    var entity = new
    entity.relationships = []
    entity.evidence.append(Self.newText)
    let descriptions = descriptions(of: new.entity)
    if let name = known.first {
      // Another kind of a hierarchy that is one entity.
      entity.entity = name
      entity.attributes = []
      for attribute in new.attributes {
        guard let description = descriptions.first(where: { $0.name == attribute.attribute })
        else { continue }
        add(attribute, description, to: &entity)
      }
      return entity
    }
    entity.entity = additions.addEntity(new.entity, descriptions)
    for case .createIndex(new.entity, let index) in suggested.steps {
      additions.add(.createIndex(entity: entity.entity, index))
    }
    targets[new.entity] = [entity.entity]
    changes.append("new: \(entity.entity), from the table \(new.table)")
    return entity
  }

  /// Returns the attribute that distinguishes the kinds of a merged hierarchy.
  private func kindAttribute(of entity: String) -> String? {
    for entry in mapping.entities where entry.entity == entity {
      for attribute in entry.attributes {
        if case .constant = attribute.source { return attribute.attribute }
      }
    }
    return nil
  }

  /// Returns the attributes of a proposed entity.
  private func descriptions(of entity: String) -> [AttributeDescription] {
    for case .createEntity(entity, let attributes, _) in suggested.steps { return attributes }
    return []
  }

  // MARK: Relationships

  private mutating func relationships(
    _ known: [RelationshipMapping], of entity: EntityMapping, _ new: EntityMapping
  ) -> [RelationshipMapping] {
    var left = new.relationships
    var updated: [RelationshipMapping] = []
    for relationship in known {
      guard let place = place(of: relationship, in: left, new.entity) else {
        if isThere(relationship, entity) {
          updated.append(relationship)
        } else {
          warnings.append(
            "\(entity.entity).\(relationship.relationship) is no longer imported: its source is "
              + "gone; the links in the store stay")
        }
        continue
      }
      let current = left.remove(at: place)
      var moved = relationship
      moved.source = current.source.ordered(as: relationship.source)
      // A person may have chosen another table than the one that is proposed.
      if !mapping.entities.contains(where: { $0.table == relationship.table }) {
        moved.table = current.table
      }
      if moved != relationship {
        changes.append(
          "\(entity.entity).\(relationship.relationship) is read from another place now")
      }
      updated.append(moved)
    }
    for relationship in left where isNew(relationship, entity) {
      if let added = added(relationship, of: new.entity, as: entity) { updated.append(added) }
    }
    return updated
  }

  /// Returns the place of the proposal for the same relationship: with the same source, whatever
  /// the numbers in its names, or with the same name, now or before.
  private func place(
    of relationship: RelationshipMapping, in proposed: [RelationshipMapping], _ entity: String
  ) -> Int? {
    let former = suggested.formerNames.properties[entity] ?? [:]
    return proposed.firstIndex { $0.source.withoutNumbers == relationship.source.withoutNumbers }
      ?? proposed.firstIndex { $0.relationship == relationship.relationship }
      ?? proposed.firstIndex { former[$0.relationship] == relationship.relationship }
  }

  /// Returns true if the file has the tables and columns of a relationship that was not proposed.
  private func isThere(_ relationship: RelationshipMapping, _ entity: EntityMapping) -> Bool {
    let (name, columns) = relationship.source.columns(in: entity.table)
    let isMapped = mapping.entities.contains { $0.table == relationship.table }
    return isMapped && columns.allSatisfy { table(name)?.column($0) != nil }
  }

  /// Returns true if the mapping neither skips the source of a relationship nor reads it from the
  /// other side.
  private func isNew(_ relationship: RelationshipMapping, _ entity: EntityMapping) -> Bool {
    let (name, columns) = relationship.source.columns(in: entity.table)
    let former = mapping.entities.first { $0.table == name }?.formerTable ?? name
    if old.skippedTables.contains(former) { return false }
    let skipped = old.skippedColumns[former] ?? []
    if columns.contains(where: { skipped.contains($0) }) { return false }
    return !(old.columnsTaken[former] ?? []).isSuperset(of: columns)
  }

  private mutating func added(
    _ relationship: RelationshipMapping, of proposed: String, as entity: EntityMapping
  ) -> RelationshipMapping? {
    let name = "\(entity.entity).\(relationship.relationship)"
    for case .createRelationship(let definition) in suggested.steps {
      let isOwn =
        definition.entity == proposed && definition.side.name == relationship.relationship
      let isInverse =
        definition.destination == proposed
        && definition.inverse?.name == relationship.relationship
      guard isOwn || isInverse else { continue }
      let ends = [definition.entity, definition.destination].map { targets[$0, default: []] }
      let destination = ends[isOwn ? 1 : 0].first ?? ""
      guard ends.allSatisfy({ $0.count == 1 }), let own = ends[0].first, let other = ends[1].first,
        mapping.entities.contains(where: {
          $0.entity == destination && $0.table == relationship.table
        })
      else {
        warnings.append("the new relationship \(name) is left out: one of its ends is not mapped")
        return nil
      }
      let steps = additions.steps.count
      let names = additions.relationship(
        RelationshipDefinition(
          entity: own, destination: other, side: definition.side, inverse: definition.inverse))
      guard let name = isOwn ? names.own : names.inverse else { return nil }
      var added = relationship
      added.relationship = name
      added.evidence.append(Self.newText)
      let isMapped = old.entities.contains { old in
        old.entity == entity.entity && old.relationships.contains { $0.relationship == name }
      }
      if additions.steps.count == steps, !isMapped {
        added.unconfirmed =
          "\(entity.entity) has this relationship already: a run replaces its links"
      }
      changes.append("new: \(entity.entity).\(name)")
      return added
    }
    return nil
  }

  // MARK: What is skipped

  private mutating func updateSkipped() {
    let taken = mapping.columnsTaken
    let names = Set(tables.map(\.name))
    mapping.skippedTables = old.skippedTables.union(suggested.mapping.skippedTables)
      .intersection(names).subtracting(taken.keys)
    mapping.skippedColumns = [:]
    for table in tables
    where (table.isOrdinary || taken[table.name] != nil && table.isReadable)
      && !mapping.skippedTables.contains(table.name)
    {
      guard let used = taken[table.name] else {
        mapping.skippedTables.insert(table.name)
        warnings.append("the table \(table.name) is skipped: nothing of it is mapped any more")
        continue
      }
      let left = Set(table.columns.map(\.name)).subtracting(used)
      if left.isEmpty { continue }
      mapping.skippedColumns[table.name] = left
      let former = mapping.entities.first { $0.table == table.name }?.formerTable ?? table.name
      let known = (old.skippedColumns[former] ?? [])
        .union(suggested.mapping.skippedColumns[table.name] ?? [])
      let unknown = left.subtracting(known).sorted()
      if !unknown.isEmpty {
        warnings.append("new columns are skipped: \(table.name).\(unknown.shortList)")
      }
    }
  }

  // MARK: Parts

  private static let newText = "new in this version of the file"

  private func table(_ name: String) -> SourceTable? { tables.first { $0.name == name } }

  private mutating func warn(gone attribute: String, of entity: EntityMapping, _ column: String) {
    warnings.append(
      "\(entity.entity).\(attribute) is no longer imported: \(entity.table).\(column) is gone; the "
        + "values in the store stay")
  }
}

extension RelationshipMapping.Source {
  /// The source with `#` for the numbers that Core Data gives its entities.
  fileprivate var withoutNumbers: Self {
    func plain(_ name: String) -> String { name.replacing(/^(Z_?)[0-9]+/) { "\($0.1)#" } }
    return switch self {
    case .columns: self
    case .join(let table, let owner, let target, let order):
      .join(
        table: plain(table), owner: owner.map(plain), target: target.map(plain),
        order: order.map { $0.replacing(/^(Z_FOK_)[0-9]+/) { "\($0.1)#" } })
    }
  }

  /// Returns the source without an order if the other one has none.
  fileprivate func ordered(as other: Self) -> Self {
    guard case .join(let table, let owner, let target, _) = self,
      case .join(_, _, _, nil) = other
    else { return self }
    return .join(table: table, owner: owner, target: target, order: nil)
  }

  /// The table and the columns that are read; `own` is the table of the rows themselves.
  fileprivate func columns(in own: String) -> (table: String, columns: [String]) {
    switch self {
    case .columns(let columns): (own, columns)
    case .join(let table, let owner, let target, let order):
      (table, owner + target + [order].compactMap(\.self))
    }
  }
}

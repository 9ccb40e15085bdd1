package import EntityModel
import LMDB

/// Checks the schema in the file against the assumptions of the rest of the store, so that a
/// damaged catalog is an error and not a crash.
package enum CatalogCheck {
  package struct Problem: Hashable {
    package let entity: String
    package let text: String
  }

  /// Checks a schema.
  ///
  /// - Parameter treeNames: The names of the trees in the snapshot that the schema was read from.
  /// - Returns: All problems; empty for each schema that migrations create.
  package static func problems(of schema: Schema, treeNames: Set<String>) -> [Problem] {
    var problems: [Problem] = []
    let indexes = schema.entities.flatMap(\.indexes)
    if repeats(schema.entities.map(\.name)) || repeats(schema.entities.map(\.id)) {
      problems.append(Problem(entity: "catalog", text: "two entities have the same name or id"))
    }
    if repeats(indexes.map(\.id)) {
      problems.append(Problem(entity: "catalog", text: "two indexes have the same id"))
    }
    problems += templateProblems(of: schema)
    if repeats(schema.entities.flatMap(\.relationships).map(\.id)) {
      problems.append(Problem(entity: "catalog", text: "two relationships have the same id"))
    }
    for entity in schema.entities {
      var texts = attributeProblems(of: entity) + layoutProblems(of: entity)
      for index in entity.indexes { texts += indexProblems(index, of: entity) }
      texts += treeProblems(of: entity, treeNames)
      texts += relationshipProblems(of: entity, in: schema)
      problems += texts.map { Problem(entity: entity.name, text: $0) }
    }
    return problems
  }

  /// Returns the problems of the history of migrations: each line has all its numbers from 1 on,
  /// and a store with applied migrations has a schema.
  package static func problems(of history: [AppliedMigration], schema: Schema) -> [Problem] {
    var problems: [Problem] = []
    for (line, entries) in Dictionary(grouping: history, by: \.line).sorted(by: { $0.key < $1.key })
    where entries.map(\.version) != Array(1...entries.count) {
      problems.append(Problem(entity: "catalog", text: "the history of line \(line) has gaps"))
    }
    if !history.isEmpty, schema.entities.isEmpty {
      problems.append(Problem(entity: "catalog", text: "the schema is missing"))
    }
    return problems
  }

  /// Returns the problem of a store that has lost its change history.
  static func historyProblems(of schema: Schema, treeNames: Set<String>) -> [Problem] {
    let isMissing =
      schema.entity(named: HistoryTree.consumerEntity) != nil
      && !treeNames.contains(HistoryTree.name)
    return isMissing ? [Problem(entity: "catalog", text: "the change history is missing")] : []
  }

  /// Returns the problems of deferred indexes: each belongs to an entity whose other indexes have
  /// other names and ids, and has the keys of an index.
  static func problems(of deferred: DeferredIndexes, schema: Schema) -> [Problem] {
    if deferred.isEmpty { return [] }
    var problems: [Problem] = []
    let known = Set(schema.entities.map(\.id))
    if !known.isSuperset(of: deferred.entities.keys) {
      problems.append(Problem(entity: "catalog", text: "the entity of a deferred index is missing"))
    }
    let ids = schema.entities.flatMap(\.indexes).map(\.id)
    if repeats(ids + deferred.entities.values.joined().map(\.id)) {
      problems.append(
        Problem(entity: "catalog", text: "a deferred index has the id of another one"))
    }
    for entity in schema.entities {
      var texts = deferred[entity.id].flatMap { indexProblems($0, of: entity) }
      if repeats((entity.indexes + deferred[entity.id]).map(\.name)) {
        texts.append("a deferred index has the name of another one")
      }
      problems += texts.map { Problem(entity: entity.name, text: $0) }
    }
    return problems
  }

  private static func attributeProblems(of entity: EntityDescription) -> [String] {
    var texts: [String] = []
    if entity.attributes.count > StoreLimits.attributesMax {
      texts.append("it has too many attributes")
    }
    if repeats(entity.attributes.map(\.name)) || repeats(entity.attributes.map(\.id)) {
      texts.append("two attributes have the same name or id")
    }
    for attribute in entity.attributes {
      if let kind = attribute.defaultValue.kind, kind != attribute.type.kind {
        texts.append("the default of \(attribute.name) is of another type")
      }
      guard case .enumeration(let enumeration) = attribute.type else { continue }
      let kinds = Set(enumeration.cases.map(\.rawValue.kind))
      if kinds != [.int64], kinds != [.string] {
        texts.append("the values of \(attribute.name) are neither all integers nor all texts")
      }
    }
    return texts
  }

  /// Returns the problems of the layouts: every layout has the kinds of the attributes, and the
  /// newest has all attributes.
  private static func layoutProblems(of entity: EntityDescription) -> [String] {
    guard let newest = entity.layouts.last else { return ["it has no record layout"] }
    if entity.layouts.count > StoreLimits.layoutsMax { return ["it has too many record layouts"] }
    if repeats(entity.attributes.map(\.id)) { return [] }  // said already
    let kinds = Dictionary(
      uniqueKeysWithValues: entity.attributes.map { ($0.id, $0.type.kind) })
    var texts: [String] = []
    for (number, layout) in entity.layouts.enumerated() {
      let isSound =
        !repeats(layout.slots.map(\.attributeID))
        && layout.slots.count <= StoreLimits.slotsMax
        && layout.slots.allSatisfy { kinds[$0.attributeID] ?? $0.kind == $0.kind }
      if !isSound { texts.append("record layout \(number + 1) contradicts the attributes") }
    }
    if !Set(kinds.keys).isSubset(of: newest.slots.map(\.attributeID)) {
      texts.append("the newest record layout lacks an attribute")
    }
    return texts
  }

  private static func indexProblems(
    _ index: IndexDescription, of entity: EntityDescription
  ) -> [String] {
    let attributes = index.keys.map { key in entity.attributes.first { $0.id == key.attributeID } }
    let isSound =
      (1...IndexLayout.keyPartsMax).contains(index.keys.count)
      && !repeats(index.keys.map(\.attributeID)) && !attributes.contains(nil)
      && attributes.count { $0?.type.kind == .strings } <= 1
      && zip(index.keys, attributes).allSatisfy { key, attribute in
        key.collation == .binary || attribute?.type == .string
      }
    return isSound ? [] : ["the keys of index \(index.name) are not those of an index"]
  }

  private static func templateProblems(of schema: Schema) -> [Problem] {
    var texts: [String] = []
    if repeats(schema.templates.map(\.name)) { texts.append("two templates have the same name") }
    for template in schema.templates {
      do throws(TemplateCheck.Problem) {
        try TemplateCheck.check(template.request, in: schema)
      } catch {
        texts.append("the template \(template.name): \(error.text)")
      }
    }
    return texts.map { Problem(entity: "catalog", text: $0) }
  }

  /// Returns the problems of the relationships that cannot be bound to the attributes or links that
  /// hold them. Migrations call it, too.
  static func relationshipProblems(of entity: EntityDescription, in schema: Schema) -> [String] {
    var texts: [String] = []
    // Only a relationship that is stored as a reference has the name of an attribute, its own.
    let taken = entity.relationships.filter { relationship in
      guard let attribute = entity.attribute(named: relationship.name) else { return false }
      if case .reference(attribute.id, _) = relationship.storage { return false }
      return true
    }
    if repeats(entity.relationships.map(\.name)) || !taken.isEmpty {
      texts.append("a relationship and another property have the same name")
    }
    for relationship in entity.relationships {
      do throws(RelationshipBinding.Problem) {
        _ = try RelationshipBinding(relationship, of: entity, in: schema)
      } catch {
        texts.append("the relationship \(relationship.name): \(error.text)")
      }
    }
    return texts
  }

  private static func treeProblems(
    of entity: EntityDescription, _ names: Set<String>
  ) -> [String] {
    var texts: [String] = []
    if !names.contains(EntityLayout.treeName(of: entity)) {
      texts.append("its records are missing")
    }
    if repeats(entity.indexes.map(\.name)) { texts.append("two indexes have the same name") }
    for index in entity.indexes where !names.contains(EntityLayout.treeName(of: index)) {
      texts.append("the entries of index \(index.name) are missing")
    }
    return texts
  }

  private static func repeats<T: Hashable>(_ elements: [T]) -> Bool {
    Set(elements).count != elements.count
  }
}

extension Schema {
  /// Returns the indexes of an entity that a load may set aside, in the order of their ids: those
  /// that check no uniqueness and serve no relationship. A system entity has none, because its code
  /// reads its indexes by name.
  package func dispensableIndexes(ofEntity id: Int) -> [IndexDescription] {
    guard let number = entities.firstIndex(where: { $0.id == id }), !entities[number].isSystem
    else { return [] }
    var without = self
    return entities[number].indexes.filter { index in
      if index.isUnique { return false }
      let before = without
      without.entities[number].indexes.removeAll { $0.id == index.id }
      let isSound = without.entities.allSatisfy {
        CatalogCheck.relationshipProblems(of: $0, in: without).isEmpty
      }
      if !isSound { without = before }
      return isSound
    }
  }
}

import EntityModel
import SchemaFiles

extension MigrationStep {
  /// Returns the arguments that follow the verb of the step.
  ///
  /// - Parameter isExplicit: True to quote all texts and always write `many`.
  func arguments(isExplicit: Bool = false) -> WrittenYAML {
    var text = MappingText(isExplicit: isExplicit)
    switch self {
    case .createEntity(let name, let attributes, let keepsHistory):
      text.add("name", name)
      text.add("attributes", .list(attributes.map { MappingText($0, isExplicit).written }))
      text.add("history", keepsHistory, unless: true)
    case .renameEntity(let name, let newName):
      text.add("name", name)
      text.add("to", newName)
    case .dropEntity(let name), .dropTemplate(let name): text.add("name", name)
    case .addAttribute(let entity, let attribute, let ifMissing):
      text.add("to", entity)
      text.add(attribute)
      text.add("ifMissing", ifMissing, unless: false)
    case .renameAttribute(let entity, let name, let newName):
      text.addNames(entity, name)
      text.add("to", newName)
    case .changeAttribute(let change): text.add(change)
    case .retypeAttribute(let retyping): text.add(retyping)
    case .deriveAttribute(let derivation):
      text.add("on", derivation.entity)
      text.add(derivation.attribute)
      text.add("from", "\(derivation.expression)")
    case .dropAttribute(let entity, let name), .dropIndex(let entity, let name),
      .dropRelationship(let entity, let name):
      text.addNames(entity, name)
    case .createIndex(let entity, let index), .changeIndex(let entity, let index):
      text.addNames(entity, index.name)
      text.add("keys", .texts(index.keys.map(\.description)))
      text.add("unique", index.isUnique, unless: false)
      text.add("sparse", index.isSparse, unless: false)
      if index.onViolation != .fail { text.add("onViolation", index.onViolation.rawValue) }
    case .createRelationship(let definition): text.add(definition)
    case .changeRelationship(let entity, let name, let deleteRule):
      text.addNames(entity, name)
      text.add("deleteRule", deleteRule.rawValue)
    case .createTemplate(let template): text.add(template)
    case .setHistory(let setting):
      text.add("on", setting.entity)
      text.add("keep", setting.isKept)
      text.add("values", setting.values.map(WrittenYAML.texts))
    case .retainHistory(let retention):
      text.add("days", retention.age.days)
      text.add("megabytes", retention.bytes >> 20)
      text.add("consumerDays", retention.consumerAge.days)
      text.add("consumerMegabytes", retention.consumerBytes >> 20)
    case .updateRows(let update):
      text.addRows(update.entity, update.predicate)
      let set = update.set.sorted { $0.key < $1.key }
      text.add(
        "set", .mapping(set.map { (WrittenYAML.quotedIfNeeded($0.key), $0.value.written) }))
    case .deleteRows(let entity, let predicate): text.addRows(entity, predicate)
    case .assert(let assertion): text.add(assertion)
    case .runCode(let code):
      text.addNames(code.entity, code.name)
      text.add("revision", code.revision)
      text.add("changes", .texts(code.changes))
    case .importLegacy(let reference):
      text.add("source", reference.source)
      text.add("optional", reference.isOptional, unless: false)
      text.add("mapping", WrittenYAML(reference.mapping))
    }
    if isDestructive { text.add("destructive", true) }
    return text.written
  }
}

extension Double {
  /// The number of days in this number of seconds. A damaged catalog may hold any number.
  fileprivate var days: Int { Int(exactly: (self / 86_400).rounded()) ?? .max }
}

extension MappingText {
  /// Adds `on` and `name`, with which most steps begin.
  fileprivate mutating func addNames(_ entity: String, _ name: String) {
    add("on", entity)
    add("name", name)
  }

  fileprivate mutating func addRows(_ entity: String, _ predicate: FetchPredicate?) {
    add("on", entity)
    add("where", predicate.map { "\($0)" })
  }

  fileprivate mutating func add(_ definition: RelationshipDefinition) {
    add("on", definition.entity)
    add("name", definition.side.name)
    add("to", definition.destination)
    add(definition.side, manyIfUnsaid: false)
    if !definition.key.isEmpty {
      let pairs = definition.key.map {
        (key: WrittenYAML.quotedIfNeeded($0.own), value: WrittenYAML.text($0.other))
      }
      add("key", .mapping(pairs))
    }
    guard let side = definition.inverse else { return }
    var inverse = MappingText(isExplicit: isExplicit)
    inverse.add("name", side.name)
    inverse.add(side, manyIfUnsaid: true)
    add("inverse", inverse.written)
  }

  private mutating func add(_ side: RelationshipDefinition.Side, manyIfUnsaid: Bool) {
    add("many", side.isToMany, unless: isExplicit ? nil : manyIfUnsaid)
    add("ordered", side.isOrdered, unless: false)
    add("orderBy", side.orderBy)
    add("optional", side.isOptional, unless: true)
    if side.deleteRule != .nullify { add("deleteRule", side.deleteRule.rawValue) }
  }

  fileprivate mutating func add(_ template: RequestTemplate) {
    let request = template.request
    add("name", template.name)
    add("entity", request.entityName)
    add("where", request.predicate.map { text("\($0)") })
    if !request.sortBy.isEmpty {
      add("sortBy", .list(request.sortBy.map { text($0.description) }))
    }
    if let limit = request.fetchLimit { add("limit", limit) }
    if request.fetchOffset > 0 { add("offset", request.fetchOffset) }
  }

  fileprivate mutating func add(_ assertion: RowAssertion) {
    addRows(assertion.entity, assertion.predicate)
    let (least, most) = (assertion.count.lowerBound, assertion.count.upperBound)
    if least == most {
      add("count", least)
    } else {
      if least > 0 || most == .max { add("atLeast", least) }
      if most < .max { add("atMost", most) }
    }
    add("message", assertion.message)
  }
}

import EntityModel

/// A description of the step for people, in one line.
extension MigrationStep: CustomStringConvertible {
  public var description: String {
    switch self {
    case .createEntity(let name, let attributes, _):
      "create entity \(name) with \(attributes.count) attributes"
    case .renameEntity(let name, let newName): "rename entity \(name) to \(newName)"
    case .dropEntity(let name): "drop entity \(name) with all its records"
    case .addAttribute(let entity, let attribute, let ifMissing):
      "add attribute \(entity).\(attribute.name) (\(attribute.type.name))"
        + (ifMissing ? " if it is missing" : "")
    case .renameAttribute(let entity, let name, let newName):
      "rename attribute \(entity).\(name) to \(newName)"
    case .changeAttribute(let change): change.text
    case .retypeAttribute(let retyping):
      "retype attribute \(retyping.entity).\(retyping.name) as \(retyping.type.name)"
    case .deriveAttribute(let derivation):
      "derive attribute \(derivation.entity).\(derivation.attribute.name) "
        + "(\(derivation.attribute.type.name)) from \(derivation.expression)"
    case .dropAttribute(let entity, let name):
      "drop attribute \(entity).\(name) with all its values"
    case .createIndex(let entity, let definition):
      "create \(definition.isUnique ? "unique " : "")index \(entity).\(definition.text)"
    case .changeIndex(let entity, let definition):
      "change \(definition.isUnique ? "unique " : "")index \(entity).\(definition.text)"
    case .dropIndex(let entity, let name): "drop index \(entity).\(name)"
    case .createRelationship(let definition):
      "create relationship \(definition.entity).\(definition.side.name) to "
        + (definition.side.isToMany ? "many " : "") + definition.destination
        + (definition.inverse.map { ", inverse \($0.name)" } ?? "")
    case .changeRelationship(let entity, let name, let deleteRule):
      "change delete rule of \(entity).\(name) to \(deleteRule.rawValue)"
    case .dropRelationship(let entity, let name):
      "drop relationship \(entity).\(name) and its inverse, with all links"
    case .createTemplate(let template):
      "create template \(template.name) of \(template.request.entityName)"
    case .dropTemplate(let name): "drop template \(name)"
    case .setHistory(let setting): setting.text
    case .retainHistory(let retention):
      "retain history for \(Int(retention.age) / 86_400) days and \(retention.bytes >> 20) MiB, "
        + "for consumers \(Int(retention.consumerAge) / 86_400) days and "
        + "\(retention.consumerBytes >> 20) MiB"
    case .updateRows(let update):
      "set \(update.set.keys.sorted().joined(separator: ", ")) of "
        + MigrationStep.rows(of: update.entity, update.predicate)
    case .deleteRows(let entity, let predicate):
      "delete " + MigrationStep.rows(of: entity, predicate)
    case .assert(let assertion): assertion.text
    case .runCode(let code):
      "run code \(code.name) (revision \(code.revision)) for "
        + "\(code.changes.joined(separator: ", ")) of all \(code.entity)"
    case .importLegacy(let reference):
      "import the legacy file \(reference.source)"
        + (reference.isOptional ? ", if it is there" : "")
    }
  }

  fileprivate static func rows(of entity: String, _ predicate: FetchPredicate?) -> String {
    predicate.map { "\(entity) where \($0)" } ?? "all \(entity)"
  }
}

extension AttributeChange {
  fileprivate var text: String {
    let parts = [
      isOptional.map { $0 ? "optional" : "required" },
      backfill.map { "records without a value get \($0.text)" },
      defaultValue.map { $0.isNull ? "no default" : "default \($0.text)" },
      owner.map { "owner \($0.rawValue)" },
      enumeration.map { "values " + $0.cases.map(\.name).joined(separator: ", ") },
      RuleChanges.text("min", rules.min, \.text), RuleChanges.text("max", rules.max, \.text),
      RuleChanges.text("maxLength", rules.maxLength) { String($0) },
      RuleChanges.text("pattern", rules.pattern) { "/\($0)/" },
    ]
    return "change attribute \(entity).\(name): "
      + parts.compactMap { $0 }.joined(separator: ", ")
  }
}

extension RuleChanges {
  fileprivate static func text<Rule>(
    _ name: String, _ change: Change<Rule>, _ text: (Rule) -> String
  ) -> String? {
    switch change {
    case .stays: nil
    case .goes: "no \(name)"
    case .becomes(let rule): "\(name) \(text(rule))"
    }
  }
}

extension AttributeAssignment {
  fileprivate var text: String {
    switch self {
    case .now: "now"
    case .expression(let expression): "\(expression)"
    }
  }
}

extension IndexDefinition {
  fileprivate var text: String {
    let rule = onViolation == .fail ? "" : ", of equal records \(onViolation.text)"
    return "\(name) on \(keys.map(\.description).joined(separator: ", "))\(rule)"
  }
}

extension UniqueViolationRule {
  fileprivate var text: String {
    switch self {
    case .fail: "none"
    case .keepNewest: "the newest is kept"
    case .keepOldest: "the oldest is kept"
    case .quarantine: "the oldest is kept and the others are moved to _Quarantine"
    }
  }
}

extension IndexDefinition.Key: CustomStringConvertible {
  /// The text of the key as a migration file writes it.
  public var description: String {
    let words = [
      attribute, collation == .binary ? nil : collation.text, isDescending ? "desc" : nil,
    ]
    return words.compactMap { $0 }.joined(separator: " ")
  }
}

extension HistorySetting {
  fileprivate var text: String {
    let parts = [
      isKept.map { $0 ? "on" : "off" },
      values.map { $0.isEmpty ? "no values" : "values of " + $0.joined(separator: ", ") },
    ]
    return "set history of \(entity): " + parts.compactMap { $0 }.joined(separator: ", ")
  }
}

extension RowAssertion {
  fileprivate var text: String {
    let isExact = count.lowerBound == count.upperBound
    let number = isExact ? "exactly \(expectation)" : expectation
    let rows = predicate.map { "\(entity) where \($0)" } ?? entity
    return "require \(number) of \(rows)" + (message.map { ": \($0)" } ?? "")
  }

  /// The expected count as text: `3`, `at least 1`, `at most 5`, `1 to 5`.
  var expectation: String {
    switch (count.lowerBound, count.upperBound) {
    case (let least, let most) where least == most: "\(least)"
    case (let least, .max): "at least \(least)"
    case (0, let most): "at most \(most)"
    case (let least, let most): "\(least) to \(most)"
    }
  }
}

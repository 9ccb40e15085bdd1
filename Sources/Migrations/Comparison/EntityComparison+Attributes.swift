import EntityModel

extension EntityComparison {
  mutating func compareAttributes(_ before: EntityDescription, _ after: EntityDescription) {
    let dropped = before.plainAttributes.filter { !after.hasPlain($0.name) }
    let added = after.plainAttributes.filter { !before.hasPlain($0.name) }
    for attribute in dropped {
      var text = "\(after.name).\(attribute.name) is dropped, with all its values"
      if let like = added.first(where: { $0.type == attribute.type }) {
        text +=
          "; \(like.name) has the same type: it may be a rename: write renameAttribute instead"
      }
      differences.append(text)
      add(.dropAttribute(entity: after.name, name: attribute.name), .dropAttributes)
    }
    for attribute in added { addAttribute(attribute, to: after) }
    for attribute in after.plainAttributes {
      guard let old = before.attribute(named: attribute.name), before.hasPlain(attribute.name)
      else { continue }
      if old.type == attribute.type || attribute.type.isOtherEnumeration(than: old.type) {
        change(old, to: attribute, of: after)
      } else {
        retype(old, to: attribute, of: after)
      }
    }
  }

  /// Adds an attribute. If it is required and has no default, it is created as optional and made
  /// required in a later step.
  private mutating func addAttribute(
    _ attribute: AttributeDescription, to entity: EntityDescription
  ) {
    var added = attribute.withoutID
    var text = "\(entity.name).\(attribute.name) (\(attribute.type.name)) is added"
    if !attribute.isOptional, attribute.defaultValue.isNull {
      added.isOptional = true
      text += ", required and without a default: if there are records, add a backfill"
      var change = AttributeChange(entity: entity.name, name: attribute.name)
      change.isOptional = false
      add(.changeAttribute(change), .require)
    }
    differences.append(text)
    add(.addAttribute(entity: entity.name, added), .addAttributes)
  }

  private mutating func retype(
    _ old: AttributeDescription, to attribute: AttributeDescription, of entity: EntityDescription
  ) {
    var text =
      "\(entity.name).\(attribute.name) is \(attribute.type.name) instead of \(old.type.name)"
    if !Conversion.none.isTotal(from: old.type, to: attribute.type) {
      text += "; say in a conversion what becomes of values that are none"
    }
    differences.append(text)
    add(
      .retypeAttribute(
        AttributeRetyping(
          entity: entity.name, name: attribute.name, type: attribute.type,
          isOptional: old.isOptional == attribute.isOptional ? nil : attribute.isOptional,
          owner: old.owner == attribute.owner ? nil : attribute.owner,
          defaultValue: attribute.defaultValue, validation: attribute.validation,
          conversion: .none)), .changeAttributes)
  }

  private mutating func change(
    _ old: AttributeDescription, to attribute: AttributeDescription, of entity: EntityDescription
  ) {
    let unchanged = AttributeChange(entity: entity.name, name: attribute.name)
    var change = unchanged
    var words: [String] = []
    if old.type != attribute.type, case .enumeration(let enumeration) = attribute.type {
      change.enumeration = enumeration
      words.append("has other values (\(enumeration.cases.map(\.name).joined(separator: ", ")))")
    }
    if old.defaultValue != attribute.defaultValue {
      change.defaultValue = attribute.defaultValue.asInFiles
      words.append("has the default \(attribute.defaultValue.text)")
    }
    if old.owner != attribute.owner {
      change.owner = attribute.owner
      words.append("has the owner \(attribute.owner.rawValue)")
    }
    if old.validation != attribute.validation {
      change.rules = RuleChanges(from: old.validation, to: attribute.validation)
      words.append("has other rules")
    }
    if !old.isOptional, attribute.isOptional {
      change.isOptional = true
      words.append("is optional")
    }
    if change != unchanged { add(.changeAttribute(change), .changeAttributes) }
    if old.isOptional, !attribute.isOptional {
      var requirement = unchanged
      requirement.isOptional = false
      let backfill =
        attribute.defaultValue.isNull
        ? " (if there are records without a value, add a backfill)" : ""
      words.append("is required\(backfill)")
      add(.changeAttribute(requirement), .require)
    }
    if words.isEmpty { return }
    differences.append("\(entity.name).\(attribute.name) \(words.joined(separator: ", "))")
  }
}

extension RuleChanges {
  fileprivate init(from old: Validation, to new: Validation) {
    self.init()
    if old.min != new.min { min = new.min.isNull ? .goes : .becomes(new.min.asInFiles) }
    if old.max != new.max { max = new.max.isNull ? .goes : .becomes(new.max.asInFiles) }
    if old.maxLength != new.maxLength { maxLength = new.maxLength.map { .becomes($0) } ?? .goes }
    if old.pattern != new.pattern { pattern = new.pattern.map { .becomes($0) } ?? .goes }
  }
}

extension EntityDescription {
  fileprivate func hasPlain(_ name: String) -> Bool {
    plainAttributes.contains { $0.name == name }
  }
}

extension AttributeType {
  /// Returns true if the two types differ only in the names of their values.
  fileprivate func isOtherEnumeration(than other: AttributeType) -> Bool {
    guard case .enumeration(let new) = self, case .enumeration(let old) = other else {
      return false
    }
    return new.kind == old.kind
  }
}

extension Value {
  /// The value as a file has it where it does not state the type: everything but numbers and lists
  /// is text.
  fileprivate var asInFiles: Value {
    switch self {
    case .null, .int64, .double, .bool, .string, .strings: self
    case .decimal, .date, .uuid, .data, .url: .string(text)
    }
  }
}

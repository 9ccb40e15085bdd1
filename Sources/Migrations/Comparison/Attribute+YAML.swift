import EntityModel
import SchemaFiles

/// Writes attributes and their changes.
extension MappingText {
  init(_ attribute: AttributeDescription, _ isExplicit: Bool) {
    self.init(isExplicit: isExplicit)
    add(attribute)
  }

  /// Writes a text, in quotes if a reader needs them or if all texts are quoted.
  func text(_ text: String) -> WrittenYAML {
    isExplicit ? .scalar(ConversionFile.quoted(text)) : .text(text)
  }

  mutating func add(_ attribute: AttributeDescription) {
    add("name", attribute.name)
    add(attribute.type)
    add("optional", attribute.isOptional, unless: false)
    if !attribute.defaultValue.isNull { add("default", typed(attribute.defaultValue)) }
    if attribute.owner != .feed { add("owner", attribute.owner.rawValue) }
    if !isExplicit { add(attribute.validation) }
    add("keepHistory", attribute.keepsHistory, unless: false)
    if isExplicit { add(attribute.validation) }
  }

  mutating func add(_ change: AttributeChange) {
    add("on", change.entity)
    add("name", change.name)
    add("optional", change.isOptional)
    add("backfill", change.backfill?.written)
    add("default", change.defaultValue.map(WrittenYAML.untyped))
    add("owner", change.owner?.rawValue)
    add("values", change.enumeration.map(written))
    add("min", change.rules.min) { .untyped($0) }
    add("max", change.rules.max) { .untyped($0) }
    add("maxLength", change.rules.maxLength) { .scalar(String($0)) }
    add("pattern", change.rules.pattern) { .scalar(ConversionFile.quoted($0)) }
  }

  mutating func add(_ retyping: AttributeRetyping) {
    add("on", retyping.entity)
    add("name", retyping.name)
    add(retyping.type)
    add("optional", retyping.isOptional)
    if !retyping.defaultValue.isNull { add("default", typed(retyping.defaultValue)) }
    add("owner", retyping.owner?.rawValue)
    add(retyping.validation)
    if retyping.conversion != .none {
      add("conversion", .scalar(ConversionFile.text(retyping.conversion, to: retyping.type)))
    }
  }

  private mutating func add(_ type: AttributeType) {
    add("type", type.name)
    if case .enumeration(let enumeration) = type { add("values", written(enumeration)) }
  }

  private mutating func add(_ rules: Validation) {
    if !rules.min.isNull { add("min", typed(rules.min)) }
    if !rules.max.isNull { add("max", typed(rules.max)) }
    if let length = rules.maxLength { add("maxLength", length) }
    if let pattern = rules.pattern { add("pattern", .scalar(ConversionFile.quoted(pattern))) }
  }

  private mutating func add<Rule>(
    _ key: String, _ change: RuleChanges.Change<Rule>, _ write: (Rule) -> WrittenYAML
  ) {
    switch change {
    case .stays: break
    case .goes: add(key, .scalar("null"))
    case .becomes(let rule): add(key, write(rule))
    }
  }
}

extension MappingText {
  /// Returns the names of the values, or the names with their numbers.
  private func written(_ enumeration: Enumeration) -> WrittenYAML {
    if enumeration.kind == .string { return .list(enumeration.cases.map { text($0.name) }) }
    return .mapping(
      enumeration.cases.map { (WrittenYAML.quotedIfNeeded($0.name), .scalar($0.rawValue.text)) })
  }

  /// Writes a value of an attribute whose type the file states.
  fileprivate func typed(_ value: Value) -> WrittenYAML {
    switch value {
    case .null, .int64, .double, .decimal, .bool: .scalar(value.text)
    case .strings(let list): .list(list.map(text))
    case .string, .date, .uuid, .data, .url: text(value.text)
    }
  }
}

extension WrittenYAML {
  /// Writes a value of an attribute that already exists. A value that has a text form is written as
  /// text.
  fileprivate static func untyped(_ value: Value) -> WrittenYAML { MappingText().typed(value) }
}

extension AttributeAssignment {
  var written: WrittenYAML {
    switch self {
    case .now: return .scalar("now")
    case .expression(.value(let value)) where value.isPlainInFiles: return .untyped(value)
    case .expression(let expression):
      return .mapping([("expression", .text("\(expression)"))])
    }
  }
}

extension Value {
  /// True if a file can state the value without an expression.
  fileprivate var isPlainInFiles: Bool {
    switch self {
    case .null, .int64, .bool, .strings: true
    case .double(let number): number.isFinite
    case .string(let text): text != "now"
    case .decimal, .date, .uuid, .data, .url: false
    }
  }
}

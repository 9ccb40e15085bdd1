import EntityModel
import EntityStore
import SchemaFiles
import StrictYAML

/// Reads the arguments of the steps that import, change, delete or count records: `updateRows`,
/// `deleteRows`, `assert`, `importLegacy`.
extension MigrationFile {
  func updateRows(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try entity(&arguments)
    let predicate = try arguments.optional("where").map(predicate)
    let node = try arguments.required("set")
    var mapping = try node.mapping()
    var set: [String: AttributeAssignment] = [:]
    for (name, _) in mapping.keys { set[name] = try assignment(try mapping.required(name)) }
    guard !set.isEmpty else { throw node.error("name what to set: attribute: value") }
    return .updateRows(RowUpdate(entity: entity, predicate: predicate, set: set))
  }

  func deleteRows(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try entity(&arguments)
    return .deleteRows(entity: entity, try arguments.optional("where").map(predicate))
  }

  func assert(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try entity(&arguments)
    let predicate = try arguments.optional("where").map(predicate)
    let exact = try arguments.optional("count").map(count)
    let least = try arguments.optional("atLeast").map(count)
    let most = try arguments.optional("atMost").map(count)
    guard (exact == nil) != (least == nil && most == nil) else {
      throw arguments.error("write the number of records: count, or atLeast, atMost or both")
    }
    let (lower, upper) = (exact ?? least ?? 0, exact ?? most ?? .max)
    guard lower <= upper else { throw arguments.error("atLeast is more than atMost") }
    return .assert(
      RowAssertion(
        entity: entity, predicate: predicate, count: lower...upper,
        message: try arguments.optional("message")?.string()))
  }

  /// Reads an import. Its mapping is parsed later, when the schema that it refers to is known.
  func importLegacy(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let source = try arguments.required("source")
    let name = try source.string()
    guard name.wholeMatch(of: /[a-z0-9][a-z0-9.-]{0,63}/) != nil else {
      throw source.error("a source is named by lower-case letters, digits, - and .")
    }
    let mapping = try arguments.required("mapping")
    guard mapping.kind == .mapping else {
      throw mapping.error("write the mapping here, as `mooring import inspect` does into a file")
    }
    return .importLegacy(
      LegacyImportReference(
        source: name, isOptional: try arguments.optional("optional")?.bool() ?? false,
        mapping: mapping))
  }

  /// Reads a number of records.
  func count(_ node: YAMLNode) throws -> Int {
    guard let count = Int(exactly: try node.int()), count >= 0 else {
      throw node.error("this is at least 0")
    }
    return count
  }

  /// Reads a predicate that has no placeholders.
  func predicate(_ node: YAMLNode) throws -> FetchPredicate {
    let predicate = try predicateWithVariables(node)
    if let name = predicate.variables.min() {
      throw node.error("$\(name) has no value here; write the value itself")
    }
    if predicate.expressions.contains(where: \.hasAggregate) { throw aggregate(node) }
    return predicate
  }

  func predicateWithVariables(_ node: YAMLNode) throws -> FetchPredicate {
    do {
      return try FetchPredicate(format: try node.string())
    } catch let error as PredicateFormatError {
      throw node.error("\(error)")
    }
  }

  /// Reads an expression about one record.
  func expression(_ node: YAMLNode) throws -> FetchExpression {
    let expression: FetchExpression
    do {
      expression = try FetchExpression(format: try node.string())
    } catch let error as PredicateFormatError {
      throw node.error("\(error)")
    }
    if let name = expression.variables.min() {
      throw node.error("$\(name) has no value here; write the value itself")
    }
    if expression.hasAggregate { throw aggregate(node) }
    return expression
  }

  private func aggregate(_ node: YAMLNode) -> YAMLError {
    node.error("this is about one record; of related records write relationship.@sum.attribute")
  }

  /// Reads an assignment: a value, `{ expression: "…" }`, or `now`.
  func assignment(_ node: YAMLNode) throws -> AttributeAssignment {
    if node.kind == .mapping {
      var mapping = try node.mapping()
      let expression = try expression(try mapping.required("expression"))
      try mapping.finish()
      return .expression(expression)
    }
    let value = try node.untypedValue()
    return value == "now" ? .now : .value(value)
  }
}

import EntityModel
import EntityStore

/// `updateRows`, `deleteRows`, `assert`: the schema stays, and must have everything that they name.
extension SchemaChange {
  func checkRows(of entity: String, _ predicate: FetchPredicate?) throws(StoreError) {
    let number = try schema.number(of: entity)
    guard let predicate else { return }
    do throws(TemplateCheck.Problem) {
      try TemplateCheck.check(predicate, of: schema.entities[number], in: schema)
    } catch {
      throw StoreError(
        .migration, "a predicate does not fit the schema",
        [("entity", entity), ("predicate", "\(predicate)"), ("problem", error.text)])
    }
  }

  func checkRows(_ update: RowUpdate) throws(StoreError) {
    try checkRows(of: update.entity, update.predicate)
    let number = try schema.number(of: update.entity)
    for (name, assignment) in update.set.sorted(by: { $0.key < $1.key }) {
      let entity = schema.entities[number]
      if let relationship = entity.relationship(named: name) {
        try check(assignment, for: relationship, of: number)
      } else {
        let position = try attribute(name, of: number)
        try check(assignment, for: entity.attributes[position], of: number)
      }
    }
  }

  /// Checks an assignment. A constant must fit the attribute and satisfy its rules; an expression
  /// must use existing names.
  func check(
    _ assignment: AttributeAssignment, for attribute: AttributeDescription, of number: Int
  ) throws(StoreError) {
    switch try assignment.fitted(to: attribute) {
    case .now: return
    case .expression(.value(let value)):
      try check(value, for: attribute, "the value", of: number)
    case .expression(let expression): try check(expression, of: number)
    }
  }

  private func check(
    _ assignment: AttributeAssignment, for relationship: RelationshipDescription, of number: Int
  ) throws(StoreError) {
    let isConstant: Bool
    switch assignment {
    case .expression(.value(.null)): isConstant = false
    case .expression(.value), .now: isConstant = true
    case .expression(let expression):
      try check(expression, of: number)
      isConstant = false
    }
    guard !relationship.isHidden, !relationship.isToMany, !isConstant else {
      throw StoreError(
        .migration, "a relationship cannot be set to this",
        [("entity", schema.entities[number].name), ("relationship", relationship.name)],
        advice: "only a to-one relationship can be set: to null, or to an expression that leads "
          + "to a record")
    }
  }

  func check(_ expression: FetchExpression, of number: Int) throws(StoreError) {
    let entity = schema.entities[number]
    do throws(TemplateCheck.Problem) {
      try TemplateCheck.check(expression, of: entity, in: schema)
    } catch {
      throw StoreError(
        .migration, "an expression does not fit the schema",
        [("entity", entity.name), ("expression", "\(expression)"), ("problem", error.text)])
    }
  }

  /// Checks that a value satisfies the rules of an attribute.
  ///
  /// - Parameter what: The value as the error reports it.
  func check(
    _ value: Value, for attribute: AttributeDescription, _ what: String, of number: Int
  ) throws(StoreError) {
    let failure: String?
    do {
      failure = try AttributeValidator(attribute).failure(of: value)?.description
    } catch {
      failure = "its pattern cannot be read: \(error)"
    }
    guard let failure else { return }
    throw StoreError(
      .migration, "a value breaks a rule of its attribute",
      [
        ("entity", schema.entities[number].name), ("attribute", attribute.name), ("value", what),
        ("rule", failure),
      ])
  }
}

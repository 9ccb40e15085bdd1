import EntityModel
import EntityStore

/// The work of a migration step apart from its change of the catalog: records to scan and indexes
/// to fill, all of one entity.
struct StepWork {
  /// The operation on each record.
  enum Records {
    /// New attributes get values that are hidden until the end.
    case fill([Filling])
    /// Records without a value get one. At the end all records must have one.
    case backfill(attribute: Int, AttributeAssignment)
    /// All records must satisfy the rules that an attribute has after the step.
    case verify(attribute: Int)
    case update(RowUpdate)
    case delete(FetchPredicate?)

    /// True if concurrent changes must be processed again.
    var followsChanges: Bool {
      switch self {
      case .fill, .backfill, .verify: true
      case .update, .delete: false
      }
    }
  }

  /// The source of the values of a new attribute.
  struct Filling {
    /// The attribute after the step.
    let attribute: AttributeDescription
    let source: Source
  }

  enum Source {
    /// The values of another attribute, by id.
    case conversion(Int, Conversion)
    case expression(FetchExpression)
    /// The value that the code gives to the attribute of this name.
    case code(CodeReference, name: String)
  }

  /// The entity by its id; 0 if there is no work.
  var entityID = 0
  /// The name of the entity before the step.
  var entityName = ""
  var records: Records?
  /// The indexes after the step.
  var indexes: [IndexDescription] = []
  var rule = UniqueViolationRule.fail
  /// The schema while the step is in progress: attributes that are being filled are hidden.
  let interim: Schema
  let after: Schema

  /// The condition on the records, for a step that only checks it.
  var assertion: RowAssertion?
  /// The file to import, for a step that only imports.
  var legacyImport: LegacyImportReference?

  /// True if only the catalog changes.
  var isNone: Bool { records == nil && indexes.isEmpty && assertion == nil && legacyImport == nil }

  /// Derives the work from the schemas before and after the step.
  ///
  /// - Parameter before: The current schema. The step may already have begun to fill attributes in
  ///   it.
  /// - Parameter hasRecords: Returns true if an entity, by its name before the step, has records.
  /// - Throws: `migration` for a relationship that every record must have and none has.
  init(
    _ step: MigrationStep, from before: Schema, to after: Schema,
    hasRecords: (String) throws -> Bool
  ) throws {
    self.after = after
    interim = Self.interim(of: step, from: before, to: after)
    if case .assert(let assertion) = step {
      entityName = assertion.entity
      self.assertion = assertion
      return
    }
    if case .importLegacy(let reference) = step {
      legacyImport = reference
      return
    }
    let difference = SchemaDifference(from: interim, to: after)
    for (entity, attribute) in difference.required {
      guard let old = before.entities.first(where: { $0.id == entity.id }),
        try hasRecords(old.name)
      else { continue }
      throw StoreError(
        .migration, "a required relationship can only be made while there are no records",
        [("entity", entity.name), ("relationship", attribute.name)], advice: "make it optional")
    }
    let built = difference.indexes.filter { !$0.isEmpty }
    guard let id = built.first?.entity.id ?? step.entityID(in: before),
      let old = before.entities.first(where: { $0.id == id }),
      try hasRecords(old.name)
    else { return }
    entityID = id
    entityName = old.name
    indexes = built.map(\.description)
    records = try Self.records(of: step, old, in: after)
    if case .createIndex(_, let definition) = step { rule = definition.onViolation }
    if case .changeIndex(_, let definition) = step { rule = definition.onViolation }
  }

  /// Creates the work of building indexes of an entity from all of its records.
  ///
  /// - Parameter indexes: The indexes as they will be. They are added to the entity, or replace
  ///   those with the same ids.
  init(building indexes: [IndexDescription], of entity: EntityDescription, in schema: Schema) {
    interim = schema
    var after = schema
    for number in after.entities.indices where after.entities[number].id == entity.id {
      after.entities[number].put(indexes)
    }
    self.after = after
    entityID = entity.id
    entityName = entity.name
    self.indexes = indexes
  }

  private static func records(
    of step: MigrationStep, _ old: EntityDescription, in after: Schema
  ) throws(StoreError) -> Records? {
    guard let new = after.entities.first(where: { $0.id == old.id }) else { return nil }
    switch step {
    case .retypeAttribute(let retyping):
      guard let source = old.attribute(named: retyping.name),
        let attribute = new.attribute(named: retyping.name)
      else { return nil }
      return .fill([
        Filling(attribute: attribute, source: .conversion(source.id, retyping.conversion))
      ])
    case .deriveAttribute(let derivation):
      return new.attribute(named: derivation.attribute.name).map {
        .fill([Filling(attribute: $0, source: .expression(derivation.expression))])
      }
    case .runCode(let code):
      return .fill(
        code.changes.compactMap { name in
          new.attribute(named: name).map {
            Filling(attribute: $0, source: .code(code, name: name))
          }
        })
    case .changeAttribute(let change):
      guard let before = old.attribute(named: change.name),
        let now = new.attribute(named: change.name)
      else { return nil }
      if !now.isOptional, before.isOptional {
        let backfill = change.backfill ?? .value(now.defaultValue)
        return .backfill(attribute: now.id, try backfill.fitted(to: now))
      }
      return now.validation.isAtLeastAsWide(as: before.validation)
        ? nil : .verify(attribute: now.id)
    case .updateRows(let update): return .update(update)
    case .deleteRows(_, let predicate): return .delete(predicate)
    default: return nil
    }
  }

  /// Returns the schema before the step, with the attributes that are being filled as hidden and
  /// optional ones.
  private static func interim(
    of step: MigrationStep, from before: Schema, to after: Schema
  ) -> Schema {
    var schema = before
    for number in before.entities.indices {
      guard let place = after.place(ofEntity: before.entities[number].id, near: number),
        before.entities[number].attributes != after.entities[place].attributes
      else { continue }
      let (entity, new) = (before.entities[number], after.entities[place])
      let known = Set(entity.attributes.map(\.id))
      let added = new.attributes.filter { !known.contains($0.id) && step.fills($0, of: new) }
      if added.isEmpty { continue }
      for attribute in added {
        schema.entities[number].attributes.append(
          AttributeDescription(
            id: attribute.id, name: EntityBuild.hiddenName(of: attribute), type: attribute.type,
            isOptional: true, owner: .local))
      }
      // The first of the new layouts has the old attributes and the new ones.
      schema.entities[number].layouts = Array(new.layouts.prefix(entity.layouts.count + 1))
      schema.entities[number].nextAttributeID = new.nextAttributeID
    }
    return schema
  }
}

extension MigrationStep {
  /// Returns the id of the entity whose records the step scans.
  fileprivate func entityID(in schema: Schema) -> Int? {
    switch self {
    case .retypeAttribute, .deriveAttribute, .changeAttribute, .updateRows, .deleteRows, .runCode:
      // The entity is the first of the names.
      needs.first.flatMap { schema.entity(named: $0.text)?.id }
    default: nil
    }
  }

  fileprivate func fills(_ attribute: AttributeDescription, of entity: EntityDescription) -> Bool {
    switch self {
    case .retypeAttribute(let retyping):
      retyping.entity == entity.name && retyping.name == attribute.name
    case .deriveAttribute(let derivation):
      derivation.entity == entity.name && derivation.attribute.name == attribute.name
    case .runCode(let code): code.entity == entity.name && code.changes.contains(attribute.name)
    default: false
    }
  }
}

extension Validation {
  /// Returns true if every value that satisfies the other rules satisfies these.
  func isAtLeastAsWide(as other: Validation) -> Bool {
    func isBelow(_ a: Value, _ b: Value) -> Bool { a.compared(with: b) != .descending }
    return (min.isNull || !other.min.isNull && isBelow(min, other.min))
      && (max.isNull || !other.max.isNull && isBelow(other.max, max))
      && (maxLength == nil || other.maxLength.map { $0 <= maxLength ?? 0 } ?? false)
      && (pattern == nil || pattern == other.pattern)
  }
}

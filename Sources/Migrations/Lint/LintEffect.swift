import EntityModel
import EntityStore

/// The effects of a valid step on records and on older programs, and what it needs of this program.
struct LintEffect {
  let step: MigrationStep
  let old: Schema
  let new: Schema
  let untouched: LintUntouched

  func findings(at place: LintPlace, _ codes: [MigrationCode]) -> [LintFinding] {
    var found: [LintFinding] = []
    if let loss = step.loss {
      found.append(
        place.finding(
          .destructive, .warning, "\(step): this loses \(loss)",
          advice: "it runs with --allow-destructive only, after a copy of the store"))
    }
    if let (reason, advice) = dependence {
      found.append(
        place.finding(.dataDependent, .warning, "\(step): it fails if \(reason)", advice: advice))
    }
    if place.migration.older == .write, let reason = incompatibility {
      found.append(
        place.finding(
          .incompatible, .error, "older: write, but \(step): \(reason)",
          advice: "write older: read, or move the step into a file of its own"))
    }
    if let finding = unregistered(at: place, codes) { found.append(finding) }
    return found
  }

  private func unregistered(at place: LintPlace, _ codes: [MigrationCode]) -> LintFinding? {
    guard case .runCode(let code) = step else { return nil }
    do throws(StoreError) {
      _ = try code.code(among: codes)
      return nil
    } catch {
      return place.finding(
        .unregisteredCode, codes.isEmpty ? .warning : .error, error.finding,
        advice: error.advice ?? "run the program that provides it")
    }
  }

  // MARK: Data

  /// The records on which the success of the step depends, and the advice for that case.
  private var dependence: (reason: String, advice: String)? {
    if let entity = step.needs.first(where: { $0.kind == .entity })?.text,
      untouched.hasNoRecords(entity)
    {
      return nil
    }
    switch step {
    case .createIndex(let entity, let index), .changeIndex(let entity, let index):
      guard index.isUnique, index.onViolation == .fail,
        !(index.isSparse && index.keys.contains { untouched.isNull(entity, $0.attribute) })
      else { return nil }
      return (
        "two records have equal keys",
        "check first with an assert, or choose what happens to them (onViolation)"
      )
    case .changeAttribute(let change): return dependence(of: change)
    case .retypeAttribute(let retyping): return dependence(of: retyping)
    case .deriveAttribute(let derivation):
      let attribute = derivation.attribute
      guard !attribute.isOptional || attribute.validation != .none else { return nil }
      return (
        "the expression gives null or a value that breaks a rule",
        "make it optional and without rules, or check first with an assert"
      )
    case .createRelationship(let definition):
      guard !definition.side.isOptional else { return nil }
      return ("\(definition.entity) has records", "make it optional")
    case .assert: return ("the number of records differs", "correct the records before")
    default: return nil
    }
  }

  private func dependence(of change: AttributeChange) -> (reason: String, advice: String)? {
    guard let before = attribute(change.name, change.entity, old),
      let after = attribute(change.name, change.entity, new)
    else { return nil }
    if before.isOptional, !after.isOptional {
      switch change.backfill {
      case nil where after.defaultValue.isNull:
        return ("a record has no value", "add a backfill, which such records get")
      case .expression(.value)?, .now?, nil: break
      case .expression?:
        return ("the expression gives null for a record", "backfill with a constant")
      }
    }
    guard !after.validation.isAtLeastAsWide(as: before.validation) else { return nil }
    return ("a value breaks the new rules", "correct such values before (updateRows)")
  }

  private func dependence(of retyping: AttributeRetyping) -> (reason: String, advice: String)? {
    guard let before = attribute(retyping.name, retyping.entity, old),
      let after = attribute(retyping.name, retyping.entity, new)
    else { return nil }
    let conversion = retyping.conversion
    if !conversion.isTotal(from: before.type, to: after.type) {
      return (
        "a value cannot be converted",
        "define what such a value becomes (conversion: { orElse: … }), or correct it before"
      )
    }
    if after.validation != .none {
      return ("a converted value breaks a rule", "add the rules afterward (changeAttribute)")
    }
    if !after.isOptional, conversion.mayGiveNull || before.isOptional {
      return ("a record has no value, or its value becomes null", "make it optional")
    }
    return nil
  }

  private func attribute(
    _ name: String, _ entity: String, _ schema: Schema
  ) -> AttributeDescription? {
    schema.entity(named: entity)?.attribute(named: name)
  }

  // MARK: Older programs

  /// The reason why a program that does not know the step could not continue to write.
  private var incompatibility: String? {
    switch step {
    case .renameEntity, .renameAttribute: return "they use the old name"
    case .dropEntity, .dropAttribute, .dropRelationship, .dropTemplate:
      return "they use what it drops"
    case .retypeAttribute: return "they write values of the old type"
    case .runCode: return "they write values as they were before"
    case .createIndex(_, let index) where index.isUnique,
      .changeIndex(_, let index) where index.isUnique:
      return "they write records that it refuses"
    case .createRelationship(let definition) where !definition.side.isOptional:
      return "they write records without the link"
    case .deriveAttribute(let derivation)
    where !derivation.attribute.isOptional && derivation.attribute.defaultValue.isNull:
      return "they write records without the value"
    case .changeAttribute(let change):
      guard let before = attribute(change.name, change.entity, old),
        let after = attribute(change.name, change.entity, new)
      else { return nil }
      if after.isOptional != before.isOptional {
        return after.isOptional
          ? "their types need a value in each record" : "they write records without a value"
      }
      return after.validation.isAtLeastAsWide(as: before.validation)
        ? nil : "they write values that its rules refuse"
    default: return nil
    }
  }
}

extension Conversion {
  fileprivate var mayGiveNull: Bool {
    emptyIsNull || !nullValues.isEmpty || orElse == .null || cases.values.contains(.null)
  }
}

/// The names that a migration has created and given no values. Steps on them do not depend on data.
struct LintUntouched {
  private var entities: Set<String> = []
  private var attributes: Set<SchemaName> = []

  func hasNoRecords(_ entity: String) -> Bool { entities.contains(entity) }

  func isNull(_ entity: String, _ attribute: String) -> Bool {
    attributes.contains(.property(entity, attribute))
  }

  mutating func note(_ step: MigrationStep) {
    switch step {
    case .createEntity(let name, _, _): entities.insert(name)
    case .renameEntity(let name, let newName):
      if entities.remove(name) != nil { entities.insert(newName) }
      attributes = []
    case .dropEntity(let name): entities.remove(name)
    case .addAttribute(let entity, let attribute, _):
      if attribute.defaultValue.isNull { attributes.insert(.property(entity, attribute.name)) }
    case .changeAttribute, .updateRows, .runCode, .renameAttribute, .dropAttribute:
      attributes.subtract(step.needs)
    case .importLegacy: (entities, attributes) = ([], [])
    default: break
    }
  }
}

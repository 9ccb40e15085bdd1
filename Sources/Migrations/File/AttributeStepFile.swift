import EntityModel
import SchemaFiles
import StrictYAML

/// Reads the arguments of the steps that create, change and drop attributes.
extension MigrationFile {
  func addAttribute(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try arguments.required("to").string()
    let ifMissing = try arguments.optional("ifMissing")?.bool() ?? false
    return .addAttribute(entity: entity, try attribute(&arguments), ifMissing: ifMissing)
  }

  func renameAttribute(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try entity(&arguments)
    let name = try arguments.required("name").string()
    return .renameAttribute(
      entity: entity, name: name, newName: try identifier(try arguments.required("to")))
  }

  func dropAttribute(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try entity(&arguments)
    return .dropAttribute(entity: entity, name: try arguments.required("name").string())
  }

  func changeAttribute(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try entity(&arguments)
    let name = try arguments.required("name").string()
    var change = AttributeChange(entity: entity, name: name)
    let unchanged = change
    change.isOptional = try arguments.optional("optional")?.bool()
    if let node = arguments.optional("backfill") {
      change.backfill = try assignment(node)
      guard change.isOptional == false else {
        throw node.error("a backfill goes with optional: false; otherwise write updateRows")
      }
      guard change.backfill != .value(.null) else {
        throw node.error("a backfill gives each record a value; null is none")
      }
    }
    change.defaultValue = try arguments.optional("default").map { try $0.untypedValue() }
    change.owner = try owner(&arguments)
    change.enumeration = try arguments.optional("values").map(enumeration)
    change.rules.min = try rule(arguments.optional("min")) { try $0.untypedValue() }
    change.rules.max = try rule(arguments.optional("max")) { try $0.untypedValue() }
    change.rules.maxLength = try rule(arguments.optional("maxLength"), length)
    change.rules.pattern = try rule(arguments.optional("pattern")) { try pattern($0, of: name) }
    guard change != unchanged else {
      throw arguments.error(
        "say what changes: optional, backfill, default, owner, values, min, max, maxLength or "
          + "pattern")
    }
    return .changeAttribute(change)
  }

  /// Reads a rule. One that is given as null is removed.
  private func rule<Rule>(
    _ node: YAMLNode?, _ read: (YAMLNode) throws -> Rule
  ) throws -> RuleChanges.Change<Rule> {
    guard let node else { return .stays }
    return node.isNull ? .goes : .becomes(try read(node))
  }

  func retypeAttribute(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try entity(&arguments)
    let name = try arguments.required("name").string()
    let type = try type(&arguments)
    let isOptional = try arguments.optional("optional")?.bool()
    // Whether null is a valid default can be checked only with the attribute as it was.
    var attribute = AttributeDescription(name: name, type: type, isOptional: isOptional ?? true)
    let owner = try owner(&arguments)
    try readRules(&arguments, of: &attribute)
    let conversion = try arguments.optional("conversion").map {
      try ConversionFile.conversion($0, to: type)
    }
    return .retypeAttribute(
      AttributeRetyping(
        entity: entity, name: name, type: type, isOptional: isOptional, owner: owner,
        defaultValue: attribute.defaultValue, validation: attribute.validation,
        conversion: conversion ?? Conversion()))
  }

  func derive(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try entity(&arguments)
    let node = try arguments.required("from")
    return .deriveAttribute(
      AttributeDerivation(
        entity: entity, attribute: try attribute(&arguments), expression: try expression(node)))
  }

  func runCode(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try entity(&arguments)
    let name = try identifier(try arguments.required("name"))
    let revisionNode = try arguments.required("revision")
    guard let revision = Int(exactly: try revisionNode.int()), revision >= 1 else {
      throw revisionNode.error("a revision is at least 1")
    }
    let node = try arguments.required("changes")
    let changes = try node.sequence().map { try $0.string() }
    guard !changes.isEmpty, Set(changes).count == changes.count else {
      throw node.error("name the attributes that the code gives values to, each once")
    }
    return .runCode(
      CodeReference(entity: entity, name: name, revision: revision, changes: changes))
  }
}

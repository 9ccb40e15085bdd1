public import ArgumentParser
public import EntityModel
import Foundation
import Migrations

/// Prints a schema.
public struct SchemaOutput {
  public enum Form: String, CaseIterable, Sendable, ExpressibleByArgument {
    case table, yaml, json, swift
  }

  private let entities: [EntityDescription]
  private let templates: [RequestTemplate]
  private let retention: HistoryRetention
  /// It is of the whole store and no part of an entity.
  private let showsRetention: Bool
  private let includesSystem: Bool
  /// The entities that are asked for.
  private let shown: [EntityDescription]

  /// - Parameter names: The names of the entities to be shown; empty for all.
  public init(_ schema: Schema, entities names: [String] = [], includesSystem: Bool) {
    entities = schema.entities.filter { includesSystem || !$0.isSystem || names.contains($0.name) }
    shown = entities.filter { names.isEmpty || names.contains($0.name) }
    templates = schema.templates.filter { names.isEmpty || names.contains($0.request.entityName) }
    retention = schema.historyRetention
    showsRetention = names.isEmpty && retention != .standard
    self.includesSystem = includesSystem
  }

  public func write(_ form: Form) throws {
    try StandardOutput.with { output in
      switch form {
      case .table:
        for entity in shown { try write(entity, &output) }
        try writeTemplates(&output)
        try writeRetention(&output)
      case .yaml:
        try output.write(
          MigrationText.list(
            creating: shown, among: entities, templates: templates,
            retention: showsRetention ? retention : nil))
      case .swift: try output.write(SwiftSource(shown).text)
      case .json:
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var schema = Schema(entities: shown)
        schema.templates = templates
        schema.historyRetention = retention
        let data = try encoder.encode(schema)
        try output.write(JSONText.withoutHidden(data) + "\n")
      }
    }
  }

  private func write(_ entity: EntityDescription, _ output: inout StandardOutput) throws {
    let note = entity.keepsHistory || entity.isSystem ? "" : ", without history"
    try output.write(entity.name.singleLine + note + "\n")
    try writeAttributes(of: entity, &output)
    try writeRelationships(of: entity, &output)
    try writeIndexes(of: entity, &output)
    try output.write("\n")
  }

  private func writeAttributes(
    of entity: EntityDescription, _ output: inout StandardOutput
  ) throws {
    var attributes = TextTable([
      .init("  attribute"), .init("type"), .init("owner"), .init("default"), .init("rules"),
    ])
    for attribute in entity.attributes where includesSystem || !attribute.isHidden {
      attributes.append([
        "  " + attribute.name, attribute.type.name + (attribute.isOptional ? "?" : ""),
        attribute.owner.rawValue,
        attribute.defaultValue.isNull ? "" : attribute.defaultValue.text, rules(attribute),
      ])
    }
    try output.write(attributes)
  }

  private func writeRelationships(
    of entity: EntityDescription, _ output: inout StandardOutput
  ) throws {
    let shown = entity.relationships.filter { includesSystem || !$0.isHidden }
    if shown.isEmpty { return }
    var relationships = TextTable([
      .init("  relationship"), .init("to"), .init("kind"), .init("on delete"), .init("inverse"),
    ])
    for relationship in shown {
      let kind = [
        relationship.isToMany ? "to-many" : relationship.isOptional ? "to-one?" : "to-one",
        relationship.isOrdered ? "ordered" : nil,
        orderName(of: relationship).map { "by \($0)" },
        keyText(of: relationship, entity).map { "by key \($0)" },
      ]
      let inverse = relationship.inverse
      relationships.append([
        "  " + relationship.name, relationship.destination,
        kind.compactMap { $0 }.joined(separator: ", "), relationship.deleteRule.rawValue,
        includesSystem || !inverse.hasPrefix("_") ? inverse : "",
      ])
    }
    try output.write(relationships)
  }

  private func writeIndexes(of entity: EntityDescription, _ output: inout StandardOutput) throws {
    if entity.indexes.isEmpty { return }
    var indexes = TextTable([.init("  index"), .init("keys"), .init("kind")])
    for index in entity.indexes {
      indexes.append(["  " + index.name, entity.keyText(of: index), kind(index)])
    }
    try output.write(indexes)
  }

  private func writeTemplates(_ output: inout StandardOutput) throws {
    if templates.isEmpty { return }
    var table = TextTable([
      .init("template"), .init("entity"), .init("where"), .init("sorted by"), .init("window"),
    ])
    for template in templates {
      let request = template.request
      let window = [
        request.fetchLimit.map { "limit \($0)" },
        request.fetchOffset > 0 ? "offset \(request.fetchOffset)" : nil,
      ]
      table.append([
        template.name, request.entityName, request.predicate?.description ?? "",
        request.sortBy.map(\.description).joined(separator: ", "),
        window.compactMap { $0 }.joined(separator: ", "),
      ])
    }
    try output.write(table)
  }

  /// Writes the retention of the change history unless it is the default.
  private func writeRetention(_ output: inout StandardOutput) throws {
    guard showsRetention else { return }
    func text(_ age: Double, _ bytes: Int) -> String {
      let days = days(age)
      return "\(Formatting.count(days)) \(days == 1 ? "day" : "days") and "
        + "\(Formatting.count(Int64(bytes >> 20))) MiB"
    }
    if !templates.isEmpty { try output.write("\n") }
    try output.write(
      "history is kept for \(text(retention.age, retention.bytes)), for consumers "
        + "\(text(retention.consumerAge, retention.consumerBytes))\n")
  }

  private func rules(_ attribute: AttributeDescription) -> String {
    var rules: [String] = []
    if case .enumeration(let enumeration) = attribute.type {
      let cases = enumeration.cases.map { named in
        named.rawValue == .string(named.name) ? named.name : "\(named.name) \(named.rawValue.text)"
      }
      rules.append(cases.joined(separator: ", "))
    }
    let validation = attribute.validation
    if !validation.min.isNull { rules.append("min \(validation.min.text)") }
    if !validation.max.isNull { rules.append("max \(validation.max.text)") }
    if let length = validation.maxLength { rules.append("at most \(length) long") }
    if let pattern = validation.pattern { rules.append("/\(pattern)/") }
    if attribute.keepsHistory { rules.append("in history") }
    return rules.joined(separator: "; ")
  }

  private func kind(_ index: IndexDescription) -> String {
    [index.isUnique ? "unique" : nil, index.isSparse ? "sparse" : nil].compactMap { $0 }
      .joined(separator: ", ")
  }

  /// A damaged catalog may hold any number.
  private func days(_ seconds: Double) -> Int64 {
    Int64(exactly: (seconds / 86_400).rounded()) ?? .max
  }

  /// The attribute that a migration has named to give the order.
  private func orderName(of relationship: RelationshipDescription) -> String? {
    guard !relationship.isOrdered, case .inverse(let order?) = relationship.storage else {
      return nil
    }
    return description(of: relationship.destination)?.attributes.first { $0.id == order }?.name
  }

  /// `pathID: id, feedID: feedID`.
  private func keyText(
    of relationship: RelationshipDescription, _ entity: EntityDescription
  ) -> String? {
    guard case .key(let pairs, _) = relationship.storage else { return nil }
    let destination = description(of: relationship.destination)
    let texts = pairs.compactMap { pair -> String? in
      let own = entity.attributes.first { $0.id == pair.own }
      let other = destination?.attributes.first { $0.id == pair.other }
      guard let own, let other else { return nil }
      return "\(own.name): \(other.name)"
    }
    return texts.joined(separator: ", ")
  }

  private func description(of entity: String) -> EntityDescription? {
    entities.first { $0.name == entity }
  }
}

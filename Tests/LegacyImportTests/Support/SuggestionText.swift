import EntityModel
import EntityStore
import Migrations
import Testing

@testable import LegacyImport

/// The text of a suggestion: the schema after its steps, and whether its mapping fits.
enum SuggestionText {
  /// One line for each entity: attributes with their types, relationships, unique indexes.
  static func entities(of suggestion: SuggestedImport) throws -> [String] {
    let schema = try schema(of: suggestion)
    return schema.entities.filter { !$0.isSystem }.map { entity in
      let own = entity.attributes.filter { attribute in
        !attribute.isHidden && entity.relationship(named: attribute.name) == nil
      }
      let attributes = own.map { "\($0.name) \($0.type.name)\($0.isOptional ? "?" : "")" }
      let relationships = entity.relationships.filter { !$0.isHidden }.sorted { $0.name < $1.name }
        .map { relationship in
          var text = "\(relationship.name) \(relationship.isToMany ? "->>" : "->")"
          text += " \(relationship.destination)"
          if relationship.isOrdered { text += " ordered" }
          if relationship.deleteRule != .nullify { text += " \(relationship.deleteRule.rawValue)" }
          return text
        }
      let unique = entity.indexes.filter { $0.isUnique && !$0.name.hasPrefix("_") }.map { index in
        let keys = index.keys.compactMap { key in
          entity.attributes.first { $0.id == key.attributeID }?.name
        }
        return "unique " + keys.joined(separator: ", ")
      }
      return "\(entity.name): "
        + ([attributes.joined(separator: ", "), relationships.joined(separator: ", ")] + unique)
        .filter { !$0.isEmpty }.joined(separator: "; ")
    }
  }

  /// Writes the steps as a file, and reads that.
  static func schema(of suggestion: SuggestedImport) throws -> Schema {
    let name = suggestion.mapping.name
    let text = MigrationText.yaml(of: suggestion.steps, line: name, summary: "A legacy import")
    return try Schema(
      of: MigrationLine.load([MigrationSource(embedded: [("0001_\(name)", Array(text.utf8))])]))
  }

  /// Requires that the mapping fits the migrated schema and the file, and survives a round trip.
  static func check(_ suggestion: SuggestedImport, _ tables: [SourceTable]) throws {
    let schema = try schema(of: suggestion)
    for mapping in suggestion.mapping.entities {
      let entity = try #require(schema.entity(named: mapping.entity))
      for attribute in mapping.attributes {
        #expect(
          entity.attribute(named: attribute.attribute)?.type == attribute.type,
          "\(mapping.entity).\(attribute.attribute)")
      }
      for relationship in mapping.relationships {
        let found = try #require(entity.relationship(named: relationship.relationship))
        switch relationship.source {
        case .columns: #expect(!found.isToMany)
        case .join(_, _, _, let order): #expect(found.isToMany && (order == nil || found.isOrdered))
        }
      }
    }
    #expect(MappingCheck(of: suggestion.mapping, against: tables).problems.isEmpty)
    let text = MappingFile.text(of: suggestion.mapping)
    let read = try MappingFile.read(Array(text.utf8), file: "map.yaml", schema: schema)
    #expect(read == suggestion.mapping.withoutEvidence)
  }
}

extension MappingFile {
  /// Reads the text of a mapping as a run does.
  static func read(_ bytes: [UInt8], file: String, schema: Schema) throws -> ImportMapping {
    try MappingText(bytes, file: file).mapping(schema)
  }
}

import EntityModel
import EntityStore
import Migrations

/// Proposes the import of a Core Data or SwiftData file, from what the file itself contains.
package enum CoreDataSuggestion {
  /// Returns a mapping and the steps of a migration, which a person may use unchanged or edit: each
  /// entity that has objects becomes one of the store, with the names and types of the model.
  ///
  /// Columns that only Core Data needs are skipped, and so are its history and cloud tables. Other
  /// skipped parts are reported as warnings, because they may be data. Without a model, guesses
  /// that may be wrong are unconfirmed.
  ///
  /// - Parameters:
  ///   - name: Under which the store remembers what came from this file.
  ///   - inheritance: What becomes of hierarchies; those that a relationship leads into at several
  ///     entities are merged in any case.
  ///   - model: The model of the program, in place of the one in the file.
  /// - Throws: ``ImportError``, `mapping` for a file that is none of Core Data's; what reading
  ///   throws.
  /// - Complexity: One pass over up to 100,000 rows of each table.
  package static func suggestedImport(
    of database: SourceDatabase, named name: String, inheritance: ImportInheritance = .separate,
    model: ManagedObjectModel? = nil
  ) throws -> SuggestedImport {
    guard CoreDataFile.isOne(database.tables) else {
      throw ImportError(
        .mapping, "this is no Core Data file", [("file", database.report.source)],
        advice: "import it as plain SQLite")
    }
    let source = try CoreDataSource(database, model: model)
    var targets = ImportTargets(source.model, source.layout, inheritance)
    let attributes = AttributeSuggestion(source: source)
    for place in targets.all.indices { attributes.apply(to: &targets.all[place]) }
    var relationships = RelationshipSuggestion(source: source, targets: targets)
    relationships.run()
    targets = relationships.targets
    for place in targets.all.indices { addKind(to: &targets.all[place]) }
    var indexes = IndexSuggestion(model: source.model)
    targets.all.forEach { indexes.add(for: $0) }

    var mapping = ImportMapping(
      name: name, dialect: .coreData,
      entities: targets.all.flatMap { target in target.members.map { entity($0, target, source) } })
    let skip = SkippedParts(of: mapping, source, in: database.tables)
    mapping.skippedTables = skip.tables
    mapping.skippedColumns = skip.columns
    let notes = try CoreDataNotes(source, mapping, in: database)
    mapping.evidence = notes.evidence
    return SuggestedImport(
      mapping: mapping,
      steps: targets.all.map {
        .createEntity(name: $0.name, attributes: $0.attributes, keepsHistory: true)
      } + indexes.steps + relationships.steps,
      warnings: source.warnings + targets.warnings + relationships.warnings + indexes.warnings
        + skip.warnings + notes.warnings,
      formerNames: FormerNames(source, targets))
  }

  /// Adds the attribute that says which entity a record of a merged hierarchy was.
  private static func addKind(to target: inout ImportTarget) {
    guard target.isMerged else { return }
    let name = target.names.claim("kind", fallback: "entityKind", otherwise: "kind")
    var cases = UniqueNames()
    let kinds = target.members.map { cases.claim($0.entity.name, otherwise: "kind") }
    let type = AttributeType.enumeration(
      Enumeration(cases: kinds.map { .init(name: $0, rawValue: .string($0)) }))
    target.attributes.insert(
      AttributeDescription(name: name, type: type, owner: .local), at: 0)
    for (place, kind) in kinds.enumerated() {
      target.members[place].attributes.insert(
        AttributeMapping(
          attribute: name, type: type, source: .constant(.string(kind)),
          evidence: ["which entity of the hierarchy it was"]), at: 0)
    }
  }

  private static func entity(
    _ member: ImportTarget.Member, _ target: ImportTarget, _ source: CoreDataSource
  ) -> EntityMapping {
    var text = source.origin + ": "
    text += source.model.lineage(of: member.entity.name).map(\.name).joined(separator: ", below ")
    if let facts = source.facts[member.table] {
      text += "; \(facts.rows(of: member.number)) rows"
      if !facts.isComplete { text += " among the first \(facts.rows) of the table" }
    }
    return EntityMapping(
      entity: target.name, table: member.table,
      filter: RowFilter(isOneOf: [StoreLayout.entityColumn: [String(member.number)]]),
      key: [StoreLayout.keyColumn], attributes: member.attributes,
      relationships: member.relationships, evidence: [text])
  }
}

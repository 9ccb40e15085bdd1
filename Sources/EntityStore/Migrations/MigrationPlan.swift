import EntityModel

/// What the pending migrations would do: computed on a copy of the schema, nothing is changed.
public struct MigrationPlan: Codable, Sendable {
  public struct Step: Codable, Sendable {
    public var line: String
    public var migration: String
    public var text: String
    public var mode: Mode
    /// Records that are read; 0 for a change of the catalog alone.
    public var records: Int
  }

  public enum Mode: String, Codable, Sendable {
    /// Only the catalog changes, whatever the number of records.
    case catalog
    /// All records are read, in the one transaction of the migration.
    case transaction
  }

  public var steps: [Step]

  /// - Throws: `migration` for a changed file, an unmet requirement, or a step that does not fit.
  init(_ state: MigrationState, schema: Schema, count: (String) throws -> Int) throws {
    try state.checkApplicable()
    var change = SchemaChange(schema: schema)
    var steps: [Step] = []
    for migration in state.pending {
      for step in migration.steps {
        let before = change.schema
        try SchemaChange.naming(migration) { () throws(StoreError) in try change.apply(step) }
        var records = 0
        for index in SchemaDifference(from: before, to: change.schema).indexes
        where !index.isEmpty && schema.entity(named: index.entity.name) != nil {
          records += try count(index.entity.name)
        }
        steps.append(
          Step(
            line: migration.line, migration: migration.name, text: step.description,
            mode: records > 0 ? .transaction : .catalog, records: records))
      }
    }
    self.steps = steps
  }

  /// What it takes to make a new store.
  public static func ofNewStore(_ sources: [MigrationSource]) throws -> MigrationPlan {
    let lines = try MigrationLine.load([.system] + sources)
    let state = MigrationState(lines: lines, history: [])
    return try MigrationPlan(state, schema: Schema()) { _ in 0 }
  }
}

extension Store {
  /// What `migrate()` would do now. Nothing is changed.
  public func migrationPlan() throws -> MigrationPlan {
    try read { transaction in
      try MigrationPlan(
        MigrationState(lines: lines, history: transaction.catalog.history),
        schema: transaction.schema
      ) { try transaction.count(of: $0) }
    }
  }
}

extension IndexDefinition.Key: CustomStringConvertible {
  /// As a migration file writes it.
  public var description: String {
    let words = [
      attribute, collation == .binary ? nil : collation.text, isDescending ? "desc" : nil,
    ]
    return words.compactMap { $0 }.joined(separator: " ")
  }
}

extension MigrationStep: CustomStringConvertible {
  public var description: String {
    switch self {
    case .createEntity(let name, let attributes, _):
      "create entity \(name) with \(attributes.count) attributes"
    case .addAttribute(let entity, let attribute):
      "add attribute \(entity).\(attribute.name) (\(attribute.type.name))"
    case .createIndex(let entity, let definition):
      "create \(definition.isUnique ? "unique " : "")index \(entity).\(definition.name) on "
        + definition.keys.map(\.description).joined(separator: ", ")
    case .dropIndex(let entity, let name): "drop index \(entity).\(name)"
    case .createRelationship(let definition):
      "create relationship \(definition.entity).\(definition.side.name) to "
        + (definition.side.isToMany ? "many " : "") + definition.destination
        + (definition.inverse.map { ", inverse \($0.name)" } ?? "")
    case .createTemplate(let template):
      "create template \(template.name) of \(template.request.entityName)"
    case .dropTemplate(let name): "drop template \(name)"
    case .setHistory(let setting): setting.text
    case .retainHistory(let retention):
      "retain history for \(Int(retention.age) / 86_400) days and \(retention.bytes >> 20) MiB, for "
        + "consumers \(Int(retention.consumerAge) / 86_400) days and "
        + "\(retention.consumerBytes >> 20) MiB"
    }
  }
}

extension HistorySetting {
  fileprivate var text: String {
    let parts = [
      isKept.map { $0 ? "on" : "off" },
      values.map { $0.isEmpty ? "no values" : "values of " + $0.joined(separator: ", ") },
    ]
    return "set history of \(entity): " + parts.compactMap { $0 }.joined(separator: ", ")
  }
}

import EntityModel
public import EntityStore
import Foundation

extension Store {
  /// Notes migrations of a line as applied without running them: for a store that has already what
  /// they make, because it comes from a line that was split, renamed or made one file of.
  ///
  /// - Parameter version: The last one that is noted.
  /// - Returns: What was noted.
  /// - Throws: `migration` if the store lacks something that they make, saying all that it lacks,
  ///   and while a migration is done in part; `storage`, with the code `busy` if another run is
  ///   under way.
  @discardableResult
  public func baseline(
    _ line: String, to version: Int, _ options: MigrationOptions = MigrationOptions()
  ) throws -> [AppliedMigration] {
    let lock = try MigrationLock(
      folder: folder, within: options.wait, isCancelled: options.isCancelled)
    defer { withExtendedLifetime(lock) {} }
    let state = try migrationState()
    try state.checkApplicable()
    if let running = state.running {
      throw running.isDown ? StoreError.isGoingDown(running) : StoreError.isGoingUp(running)
    }
    let wanted = state.pending.filter { $0.line == line && $0.version <= version }
    guard let last = wanted.last, last.version == version else {
      throw StoreError(
        .migration, "there is no such migration pending", [("migration", "\(line)@\(version)")],
        advice: "`mooring migrate status` tells what is")
    }
    try checkRequirements(of: wanted)
    return try Migrator(self, options).commit { transaction in
      let missing = wanted.flatMap(\.steps).missing(in: transaction.schema)
      guard missing.isEmpty else {
        throw StoreError(
          .migration, "the store lacks what the migration makes",
          [("migration", "\(line)@\(version)"), ("lacks", missing.joined(separator: ", "))],
          advice: "apply it with `mooring migrate up`")
      }
      return try wanted.map { migration in
        try transaction.note(migration, isBaseline: true)
      }
    }
  }
}

extension Store {
  /// What migrations require of other lines has been applied: pending ones are no ground to stand
  /// on.
  fileprivate func checkRequirements(of migrations: [Migration]) throws {
    let history = try catalog().history
    for need in migrations.flatMap(\.requires) where need.line != migrations.first?.line {
      if history.contains(where: { $0.line == need.line && $0.version == need.version }) {
        continue
      }
      throw StoreError(
        .migration, "a migration requires another one that is not applied",
        [("requires", "\(need.line)@\(need.version)")], advice: "apply that one, or note it, first")
    }
  }
}

extension [MigrationStep] {
  /// What they make, as it is called after the last of them, and a schema does not have.
  fileprivate func missing(in schema: Schema) -> [String] {
    var made: [String] = []
    for step in self {
      made += step.creates.filter { !made.contains($0) }
      made.removeAll { step.removes.contains($0) || step.removesAll(of: $0) }
    }
    return made.filter { !schema.has($0) }
  }
}

extension MigrationStep {
  fileprivate var removes: [String] {
    switch self {
    case .dropEntity(let name), .renameEntity(let name, _), .dropTemplate(let name): [name]
    case .dropAttribute(let entity, let name), .renameAttribute(let entity, let name, _),
      .dropIndex(let entity, let name), .dropRelationship(let entity, let name):
      ["\(entity).\(name)"]
    default: []
    }
  }

  /// Whether a name is that of a part of an entity that goes, or gets another name.
  fileprivate func removesAll(of name: String) -> Bool {
    switch self {
    case .dropEntity(let entity), .renameEntity(let entity, _): name.hasPrefix(entity + ".")
    default: false
    }
  }
}

extension Schema {
  fileprivate func has(_ name: String) -> Bool {
    let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
    guard let entity = entity(named: parts[0]) else {
      return templates.contains { $0.name == name }
    }
    guard parts.count == 2 else { return true }
    return entity.attribute(named: parts[1]) != nil || entity.index(named: parts[1]) != nil
      || entity.relationship(named: parts[1]) != nil
  }
}

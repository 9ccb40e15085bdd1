import EntityModel
public import EntityStore

extension Store {
  /// Records migrations of a line as applied without running them. This is for a store that already
  /// has what they create, because it comes from a line that was split, renamed or merged into one
  /// file.
  ///
  /// - Parameter version: The last version that is recorded as applied.
  /// - Returns: The migrations that were recorded.
  /// - Throws: `migration` if the store lacks something that they create, with a list of all that
  ///   is missing, and while a migration is partly done; `busy` if another run is in
  ///   progress.
  @discardableResult
  public func baseline(
    _ line: String, to version: Int, _ options: MigrationOptions = MigrationOptions()
  ) throws -> [AppliedMigration] {
    let lock = try MigrationLock(
      of: self, within: options.wait, isCancelled: options.isCancelled)
    defer { withExtendedLifetime(lock) {} }
    let state = try migrationState()
    try state.checkApplicable()
    if let running = state.running {
      throw running.isDown ? StoreError.isGoingDown(running) : StoreError.isGoingUp(running)
    }
    let wanted = state.pending.filter { $0.line == line && $0.version <= version }
    guard let last = wanted.last, last.version == version else {
      throw StoreError(
        .migration, "no such migration is pending", [("migration", "\(line)@\(version)")],
        advice: "`mooring migrate status` lists those that are")
    }
    try checkRequirements(of: wanted)
    return try Migrator(self, options).commit { transaction in
      let missing = wanted.flatMap(\.steps).missing(
        in: transaction.deferred.restored(in: transaction.schema))
      guard missing.isEmpty else {
        throw StoreError(
          .migration, "the store lacks what the migration creates",
          [("migration", "\(line)@\(version)"), ("lacks", missing.joined(separator: ", "))],
          advice: "apply it with `mooring migrate up`")
      }
      return try wanted.map { migration in
        try transaction.record(migration, isBaseline: true)
      }
    }
  }
}

extension Store {
  /// Throws unless everything that the migrations require of other lines has been applied. Pending
  /// migrations of other lines do not count.
  fileprivate func checkRequirements(of migrations: [Migration]) throws {
    let history = try catalog().history
    for need in migrations.flatMap(\.requires) where need.line != migrations.first?.line {
      if history.contains(where: { $0.line == need.line && $0.version == need.version }) {
        continue
      }
      throw StoreError(
        .migration, "a migration requires another one that is not applied",
        [("requires", "\(need.line)@\(need.version)")], advice: "apply or record that one first")
    }
  }
}

extension [MigrationStep] {
  /// Returns what the migrations create, under its name after the last of them, and the schema
  /// lacks.
  fileprivate func missing(in schema: Schema) -> [String] {
    var made: [String] = []
    for step in self {
      made += step.makes.map(\.text).filter { !made.contains($0) }
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

  /// Returns true for the name of a part of an entity that the step drops or renames.
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

public import EntityStore

extension Store {
  /// The handling of migrations when a store is opened.
  public enum MigrationPolicy: Sendable {
    /// Create a missing store and apply all migrations to it; leave a store that has been migrated
    /// before as it is. If it lacks migrations, writes to it are refused.
    case ifEmpty
    /// Create a missing store, and apply the pending migrations. Opening then takes as long as they
    /// do, and fails with `busy` during a migration or a load. Without pending ones it does not
    /// wait. A destructive step is refused.
    case pending
    /// Create a missing store and apply nothing. This is for a program that then migrates the store
    /// with its own options.
    case create
    /// Never create a store, and never apply migrations.
    case never

    /// True if the caller opens the store to change its schema.
    fileprivate var asksForChanges: Bool {
      switch self {
      case .pending, .create: true
      case .ifEmpty, .never: false
      }
    }
  }

  /// Opens the store in a folder.
  ///
  /// Indexes whose keys were created with another version of Unicode or of a locale's rules are
  /// rebuilt first, unless the store is opened for reading only. During the rebuild readers do not
  /// use these indexes; after it, writes by programs with the other version are refused. Machines
  /// that share a store would undo each other's rebuild, so there only `.pending` and `.create`
  /// rebuild, and until then writes with the other version are refused. Indexes that an interrupted
  /// load has set aside are built as well.
  ///
  /// - Parameter sources: The sources of the migration lines that this program knows, and the code
  ///   that their steps call. The store's own line, `system`, is always among them.
  /// - Parameter requiring: The Swift types that the program uses, checked against the catalog.
  /// - Throws: `storeMissing`, `notAStore`, `notAFolder`, `newerFormat`, `newerSchema`, `damaged`;
  ///   `schemaMismatch` (it lists every difference); `migration`; `busy`, `readOnly`,
  ///   `notPermitted`, `diskFull` or another storage failure.
  public static func open(
    at folder: String, migrations sources: [MigrationSource] = [],
    migrate: MigrationPolicy = .never,
    requiring types: [any Entity.Type] = [], options: Options = Options()
  ) throws -> Store {
    let known = try KnownMigrations([.system] + sources)
    // A program that may write fails now on a file that cannot be read, and not on the first write.
    var options = options
    if !options.isReadOnly { options.treesMax = try known.all().treesMax }
    let store = try translatingStorageErrors {
      try Store(folder: folder, policy: known, creates: migrate != .never, options: options)
    }
    if try store.migrates(migrate) {
      var migration = MigrationOptions()
      migration.sealsRecords = false
      try store.migrate(migration)
    }
    if !options.isReadOnly {
      try store.finishInterruptedLoads()
      if options.commitLog == nil || migrate.asksForChanges {
        try CollationRebuild(store: store).run()
      }
    }
    try store.require(types)
    return store
  }
}

extension Store {
  /// Returns true if opening applies migrations. Without pending ones it does not wait for another
  /// migration or a load.
  ///
  /// - Throws: `migration`, `newerSchema` if migrations are to be applied and cannot be.
  fileprivate func migrates(_ policy: MigrationPolicy) throws -> Bool {
    switch policy {
    case .ifEmpty: return try catalog().history.isEmpty
    case .pending:
      let state = try migrationState()
      return try state.running != nil || !Migrator(self).positions(from: state).isEmpty
    case .create, .never: return false
    }
  }
}

extension [MigrationLine] {
  /// The number of trees that a store with these migrations has at most: a relationship may have an
  /// entity for its links with two indexes, and a step may fill an index beside an earlier one.
  fileprivate var treesMax: Int {
    reduce(128) { trees, line in
      line.migrations.reduce(trees) { trees, migration in
        migration.steps.reduce(trees) { trees, step in
          switch step {
          case .createEntity, .createIndex, .changeIndex: trees + 1
          case .createRelationship: trees + 3
          default: trees
          }
        }
      }
    }
  }
}

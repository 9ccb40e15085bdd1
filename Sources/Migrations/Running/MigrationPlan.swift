import EntityModel
public import EntityStore
import Foundation

/// The effects of pending migrations, computed on a copy of the schema. Nothing is changed.
///
/// Times and sizes are estimates. The sizes are rather too large than too small, because they are
/// compared with the available space before anything runs.
public struct MigrationPlan: Codable, Sendable {
  /// One pending step, with its estimated cost.
  public struct Step: Codable, Sendable {
    public var line: String
    public var migration: String
    /// The description of the step.
    public var text: String
    public var mode: Mode
    /// The number of records that are scanned; 0 for a change of the catalog alone.
    public var records: Int
    public var seconds: Double
    /// The bytes by which the store's folder grows, files for sorting included.
    public var bytes: Int
    /// A description of what is lost; `nil` if nothing is.
    public var loss: String?
    /// True if an interrupted run has begun with this step.
    public var isUnderWay: Bool
  }

  /// The way in which a step runs.
  public enum Mode: String, Codable, Sendable {
    /// Only the catalog changes, whatever the number of records.
    case catalog
    /// All records of the entity are scanned, in one transaction.
    case transaction
    /// All records are scanned in chunks while others write, and readers see the whole result at
    /// the end.
    case online
  }

  public var steps: [Step] = []
  /// The bytes of the copy that is made first, if a step loses data.
  public var backupBytes = 0
  /// The free bytes on the volume of the store; `nil` if not known.
  public var freeBytes: Int?
  /// The bytes by which the store's file may still grow.
  public var mapBytes = 0

  public var seconds: Double { steps.reduce(0) { $0 + $1.seconds } }
  /// The bytes of the copy and of all steps together.
  public var bytes: Int { backupBytes + steps.reduce(0) { $0 + $1.bytes } }
  public var isDestructive: Bool { steps.contains { $0.loss != nil } }

  /// Returns the plan for creating a new store.
  public static func ofNewStore(
    _ sources: [MigrationSource], _ options: MigrationOptions = MigrationOptions()
  ) throws -> MigrationPlan {
    let lines = try MigrationLine.load([.system] + sources)
    let state = MigrationState(lines: lines, history: [])
    try state.checkApplicable()
    var plan = MigrationPlan()
    try plan.add(
      state.pending(upTo: options.targets).map { MigrationPosition($0) }, options, from: Schema()
    ) { _ in EntitySize() }
    return plan
  }

  /// Computes the plan of migrations.
  ///
  /// - Throws: `migration` for a step that does not fit.
  init(
    _ positions: [MigrationPosition], _ options: MigrationOptions,
    in transaction: ReadTransaction, of store: Store
  ) throws {
    let catalog = transaction.catalog
    try add(positions, options, from: catalog.deferred.restored(in: catalog.schema)) { id in
      guard
        let entity = catalog.entities.values.first(where: { $0.description.id == id })
      else { return EntitySize() }
      return try transaction.size(of: entity)
    }
    let space = try store.space(in: transaction)
    mapBytes = max(0, space.mapBytes - space.usedBytes + space.reusableBytes)
    freeBytes = space.volumeBytes.map { $0 + space.reusableBytes }
    if isDestructive, options.backsUp, positions.first?.backup == nil {
      backupBytes = space.usedBytes
    }
  }

  private init() {}

  /// Adds the steps of migrations to the plan.
  ///
  /// - Parameter size: Returns the size of an entity by its id.
  private mutating func add(
    _ positions: [MigrationPosition], _ options: MigrationOptions, from schema: Schema,
    size: (Int) throws -> EntitySize
  ) throws {
    var change = SchemaChange(schema: schema)
    for position in positions {
      for (number, step) in position.remainder.enumerated() {
        let before = change.schema
        try change.apply(step, of: position.migration)
        let work = try StepWork(step, from: before, to: change.schema) { name in
          try (before.entity(named: name).map { try size($0.id).records } ?? 0) > 0
        }
        let id = work.isNone ? nil : before.entity(named: work.entityName)?.id
        let found = try id.map(size) ?? EntitySize()
        let cost = work.cost(of: found)
        steps.append(
          Step(
            line: position.migration.line, migration: position.migration.name,
            text: step.description,
            mode: work.isNone
              ? .catalog
              : work.legacyImport == nil && found.isShort(options) ? .transaction : .online,
            records: found.records, seconds: cost.seconds, bytes: cost.bytes, loss: step.loss,
            isUnderWay: number == 0 && position.isBuilding))
      }
    }
  }

  /// Checks that the volume and the map have enough room.
  ///
  /// - Throws: `diskFull`, `mapFull`.
  func checkRoom() throws(StoreError) {
    let grows = bytes - backupBytes
    if let freeBytes, bytes > freeBytes {
      throw Self.noRoom(
        .diskFull, "the volume of the store has too little room for the migration",
        needed: bytes, there: freeBytes, advice: "free some, or move the store to a larger volume")
    }
    if grows > mapBytes {
      throw Self.noRoom(
        .mapFull, "the map of the store is too small for the migration", needed: grows,
        there: mapBytes, advice: "open it with a larger --map-size")
    }
  }

  private static func noRoom(
    _ code: StoreError.Code, _ summary: StaticString, needed: Int, there: Int,
    advice: String
  ) -> StoreError {
    StoreError(
      code, summary, [("needed bytes", String(needed)), ("there are", String(there))],
      advice: advice)
  }
}

extension EntitySize {
  /// Returns true if the records can be scanned in one transaction.
  func isShort(_ options: MigrationOptions) -> Bool {
    records <= options.recordsAtOnceMax && bytes <= StoreLimits.bytesMigratedAtOnceMax
  }
}

extension StepWork {
  /// Returns the estimated cost, based on measurements on a machine with two cores (Tools/bench).
  fileprivate func cost(of size: EntitySize) -> (seconds: Double, bytes: Int) {
    var seconds = 0.0
    var bytes = 0
    if records != nil {
      seconds += Double(size.records) / 300_000
      // Records that grow split their pages.
      bytes += size.bytes
    }
    if assertion != nil { seconds += Double(size.records) / 5_000_000 }
    for index in indexes {
      seconds += Double(size.records) / 500_000
      // A key, its place in the tree, and the same again while it is being sorted.
      bytes += size.records * (24 + 20 * index.keys.count) * 2
    }
    return (seconds, bytes)
  }
}

extension Store {
  /// Returns what `migrate()` would do now. Nothing is changed.
  ///
  /// - Throws: `migration` for a file or a step that is invalid.
  public func migrationPlan(_ options: MigrationOptions = MigrationOptions()) throws
    -> MigrationPlan
  {
    let positions = try Migrator(self, options).positions(from: migrationState())
    return try read { try MigrationPlan(positions, options, in: $0, of: self) }
  }
}

import EntityModel
public import EntityStore
public import Migrations

/// Migrations of a store of items, each of which ends in the same store whatever interrupts it.
public enum MigrationScenario: String, CaseIterable, Sendable {
  case retype, derive, list, compound, unique, keepNewest, keepOldest, quarantine, required
  case validation, code, update, delete, series, down, destructive

  /// True if other transactions see nothing of the migration until its end, and then all of it.
  public var isSeenAtOnce: Bool {
    switch self {
    case .retype, .derive, .list, .compound, .unique, .validation, .code: true
    default: false
    }
  }

  /// True if the migration treats records that others write during it in the same way as earlier
  /// ones: the result is then the same as if they had been written first.
  public var followsWriters: Bool { isSeenAtOnce || self == .required }

  /// True if the store already has the migrations, and the test reverts them.
  public var isDown: Bool { self == .down }

  /// The line of the items, and that of the migrations.
  public var sources: [MigrationSource] {
    [.items, MigrationSource(embedded: files)]
  }

  private var files: [(name: String, bytes: [UInt8])] {
    migrations.enumerated().map { number, steps in
      let text = (["line: more", "summary: s", "requires: [items@1]"] + steps)
        .joined(separator: "\n")
      return ("000\(number + 1)_more", Array((text + "\n").utf8))
    }
  }

  /// The keys `steps` and `down` of each file.
  private var migrations: [[String]] {
    func steps(_ steps: String...) -> [String] { ["steps:"] + steps.map { "  - \($0)" } }
    func down(_ steps: String...) -> [String] { ["down:"] + steps.map { "  - \($0)" } }
    let retype = "retypeAttribute: { on: Item, name: size, type: string }"
    let derive = "derive: { on: Item, name: twice, type: int64, from: \"size * 2\" }"
    let compound = "createIndex: { on: Item, name: new, keys: [group, code desc] }"
    let update =
      "updateRows: { on: Item, where: \"size >= 0\", set: { size: { expression: \"size + 1000\" } } }"
    switch self {
    case .retype: return [steps(retype)]
    case .derive: return [steps(derive)]
    case .list:
      return [steps("createIndex: { on: Item, name: new, keys: [tags, size], sparse: true }")]
    case .compound: return [steps(compound)]
    case .unique: return [steps("createIndex: { on: Item, name: new, keys: [code], unique: true }")]
    case .keepNewest, .keepOldest:
      return [
        steps(
          "createIndex: { on: Item, name: new, keys: [size], unique: true, "
            + "onViolation: \(rawValue), destructive: true }")
      ]
    case .quarantine:
      return [
        steps(
          "createIndex: { on: Item, name: new, keys: [group, size], unique: true, "
            + "onViolation: quarantine }")
      ]
    case .required:
      return [
        steps("changeAttribute: { on: Item, name: group, optional: false, backfill: none }")
      ]
    case .validation: return [steps("changeAttribute: { on: Item, name: size, min: -1000 }")]
    case .code:
      return [steps("runCode: { on: Item, name: reverse, revision: 1, changes: [code, size] }")]
    case .update: return [steps(update)]
    case .delete:
      return [steps("deleteRows: { on: Item, where: \"size < 100\", destructive: true }")]
    case .series:
      return [
        steps(
          "addAttribute: { to: Item, name: stars, type: int64, default: 3 }", derive, compound,
          "dropIndex: { on: Item, name: bySize }"),
        steps("assert: { on: Item, atLeast: 1 }", retype),
      ]
    case .down:
      return [
        steps(retype, compound)
          + down(
            "dropIndex: { on: Item, name: new }",
            "retypeAttribute: { on: Item, name: size, type: int64 }")
      ]
    case .destructive:
      return [
        steps(update, "dropAttribute: { on: Item, name: tags, destructive: true }", compound)
      ]
    }
  }

  /// The code that the scenario `code` runs.
  public static let codes = [
    MigrationCode("reverse", revision: 1) { record in
      if case .string(let code) = try record["code"] {
        try record.set("code", to: .string(String(code.reversed())))
      }
      if case .int64(let size) = try record["size"] { try record.set("size", to: .int64(-size)) }
    }
  ]

  /// Runs the migration, or continues it.
  ///
  /// - Returns: The names of the migrations that are complete by that.
  public func run(on store: Store, _ options: MigrationOptions) throws -> [String] {
    let report =
      try isDown
      ? store.migrateDown("more", to: 0, options) : store.migrate(options)
    return report.migrations.map(\.name)
  }

  /// Options by which each step is long, in chunks of a record or some.
  public static func options(chunk: Duration = .zero) -> MigrationOptions {
    var options = MigrationOptions()
    options.allowsDestructive = true
    options.recordsAtOnceMax = 0
    options.chunkDuration = chunk
    options.sortMemory = 4_096
    return options
  }
}

extension MigrationSource {
  public static let items = MigrationSource(embedded: [("0001_items", Array(itemsText.utf8))])

  private static let itemsText = """
    line: items
    summary: Items, and what fills the store
    steps:
      - createEntity:
          name: Item
          attributes:
            - { name: code, type: string }
            - { name: size, type: int64 }
            - { name: group, type: string, optional: true }
            - { name: tags, type: strings, default: [] }
      - createIndex: { on: Item, name: bySize, keys: [size desc] }
      - createIndex: { on: Item, name: byGroup, keys: [group, size], sparse: true }
      - createEntity: { name: Ballast, attributes: [{ name: bytes, type: data }] }
    """
}

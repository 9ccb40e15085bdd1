public import EntityModel
public import EntityObjects
public import EntityStore
public import Migrations

/// The load of the tests: items with unique codes, and with indexes of every other kind.
public enum LoadPlan {
  public static let rows = 240
  public static let rowsPerChunk = 10

  public static let source = MigrationSource(embedded: [("0001_goods", Array(text.utf8))])

  /// The indexes that a load sets aside. `byCode` is unique, and another one serves the shelf.
  public static let deferredIndexes = ["byGroup", "byName", "bySize", "byTags"]

  private static let text = """
    line: goods
    summary: Items on shelves
    steps:
      - createEntity:
          name: Shelf
          attributes:
            - { name: name, type: string }
      - createEntity:
          name: Item
          attributes:
            - { name: code, type: string }
            - { name: size, type: int64 }
            - { name: group, type: string, optional: true }
            - { name: tags, type: strings, default: [] }
      - createIndex: { on: Item, name: bySize, keys: [size desc] }
      - createIndex: { on: Item, name: byCode, keys: [code], unique: true }
      - createIndex: { on: Item, name: byGroup, keys: [group, size], sparse: true }
      - createIndex: { on: Item, name: byTags, keys: [tags, size], sparse: true }
      - createIndex: { on: Item, name: byName, keys: [code localized] }
      - createRelationship: { on: Item, name: shelf, to: Shelf, inverse: { name: items } }
    """

  public static func values(_ row: Int) -> [String: Value] {
    [
      "code": .string("c\(row)"), "size": .int64(Int64(row * 7_919 % 101)),
      "group": row % 3 == 0 ? .null : .string("g\(row % 5)"),
      "tags": .strings((0..<row % 3).map { "t\(row % 7 + $0)" }),
    ]
  }

  public static func request(
    _ items: [[String: Value]] = (0..<rows).map(values)
  ) -> BatchInsertRequest {
    var options = BatchRequestOptions(name: "plan")
    options.chunkRows = rowsPerChunk
    options.chunkDuration = .seconds(600)
    return BatchInsertRequest("Item", items, options: options)
  }

  /// Options by which the indexes of few records are built in many chunks.
  public static var options: MigrationOptions {
    var options = MigrationOptions()
    options.recordsAtOnceMax = 0
    options.chunkDuration = .zero
    options.sortMemory = 4_096
    return options
  }

  /// Runs the load, or continues it.
  ///
  /// - Parameter progress: Called after each commit.
  @discardableResult
  public static func run(
    on store: Store, progress: @escaping @Sendable (LoadProgress) -> Void = { _ in }
  ) async throws -> BatchResult {
    try await store.load(request(), building: options, progress)
  }

  /// Compares the answers of a store with those that its records give.
  ///
  /// - Returns: The differences; empty if all answers are right.
  public static func problems(in transaction: ReadTransaction) throws -> [String] {
    let items = try transaction.fetch(FetchRequest(entityName: "Item"))
    var problems: [String] = []
    func compare(_ text: String, _ matches: (Record) throws -> Bool) throws {
      let request = FetchRequest(entityName: "Item", predicate: try FetchPredicate(format: text))
      let expected = try items.filter(matches).map(\.id)
      let found = try transaction.fetch(request).map(\.id)
      if Set(found) != Set(expected) || found.count != expected.count {
        problems.append("\(text): \(found.count) records instead of \(expected.count)")
      }
    }
    try compare("size < 20") { item in
      guard case .int64(let size) = try item["size"] else { return false }
      return size < 20
    }
    try compare("group == 'g1'") { try $0["group"] == .string("g1") }
    try compare("ANY tags == 't3'") { item in
      guard case .strings(let tags) = try item["tags"] else { return false }
      return tags.contains("t3")
    }
    return problems
  }
}

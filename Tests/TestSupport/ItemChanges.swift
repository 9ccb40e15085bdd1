import EntityModel
public import EntityStore

/// Changes of items in one process while another one migrates them. Each is determined by its
/// number and the schema, so that they can be repeated in another store.
public struct ItemChanges: Sendable {
  /// Items at the start: those that are changed.
  public static let items = 60
  private let seed: UInt64

  public init(seed: UInt64) { self.seed = seed }

  /// Puts the first items in.
  public func prepare(_ store: Store) async throws {
    try await store.write { transaction in
      for number in 0..<Self.items {
        var random = SeededRandom(seed: seed &+ UInt64(number))
        try transaction.insert("Item", values(number, transaction, &random))
      }
    }
  }

  /// Applies the change with a number.
  ///
  /// - Returns: The schema in which it was applied, and true if the rules allowed it.
  public func make(_ number: Int, in store: Store) async throws -> (schema: String, isMade: Bool) {
    try await store.write { transaction in
      let item = try transaction.description(of: "Item")
      let numbers = item.attributes.filter { !$0.isHidden }.map(\.id) + item.indexes.map(\.id)
      let schema = "\(StoreDigest.text(of: transaction.schema)) \(numbers)"
      do {
        try make(number, in: transaction)
        return (schema, true)
      } catch let error as StoreError
        where error.code == .validation || error.code == .uniqueViolation
      {
        return (schema, false)
      }
    }
  }

  private func make(_ number: Int, in transaction: WriteTransaction) throws {
    var random = SeededRandom(seed: seed &+ UInt64(1_000_000 + number))
    let values = try values(Self.items + number, transaction, &random)
    let id = ObjectID(entity: "Item", number: Int64(random.number(1...Self.items + number)))
    switch random.number(0...9) {
    case 0...2: try transaction.insert("Item", values)
    case 3: try transaction.delete(id)
    default:
      let isWhole = random.oneIn(2)
      guard try transaction.get(id) != nil else { return }
      try transaction.update(id) { record in
        for (name, value) in values where isWhole || name != "size" {
          try record.set(name, to: value)
        }
      }
    }
  }

  private func values(
    _ number: Int, _ transaction: ReadTransaction, _ random: inout SeededRandom
  ) throws -> [String: Value] {
    let size = Int64(random.number(0...200))
    let group = random.number(0...8)
    let tags = random.number(0...3)
    var values: [String: Value] = [
      "code": .string("c\(number * 7_919 % 1_000)-\(number)"), "size": .int64(size),
      "group": group > 5 ? .null : .string("g\(group)"),
      "tags": .strings((0..<tags).map { "t\($0 * random.number(1...3))" }),
    ]
    for attribute in try transaction.description(of: "Item").attributes {
      switch (attribute.name, attribute.type) {
      case ("size", .string): values["size"] = .string(String(size))
      case ("twice", _): values["twice"] = .int64(size)
      default: continue
      }
    }
    let names = Set(try transaction.description(of: "Item").attributes.map(\.name))
    return values.filter { names.contains($0.key) }
  }
}

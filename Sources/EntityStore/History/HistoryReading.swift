import EntityModel
import Foundation
import LMDB

extension ReadTransaction {
  /// The place in the history at which this transaction's snapshot stands; in a write the place
  /// before it.
  ///
  /// - Complexity: O(log *n*).
  public func historyToken() throws -> HistoryToken {
    try token(after: try ownHistorySequence.map { $0 - 1 } ?? historyTree?.last() ?? 0)
  }

  /// What was changed after a place, oldest first.
  ///
  /// - Parameter token: `nil` begins with the oldest that is kept, which may not be the first there
  ///   was.
  /// - Parameter entities: Leaves out changes of others, and transactions without one; `nil` takes
  ///   all.
  /// - Parameter author: Leaves out what this author wrote.
  /// - Parameter limit: At most so many transactions; 0 is no limit.
  /// - Throws: `invalidToken` for a token of another store or of a state from before a backup was
  ///   restored; `expiredToken` if what came after it is no longer kept; `unknownEntity`,
  ///   `invalidRequest` for a negative limit, `damaged`.
  /// - Complexity: O(log *n* + changes after the token).
  public func history(
    after token: HistoryToken? = nil, of entities: Set<String>? = nil,
    exceptBy author: String? = nil, limit: Int = 0
  ) throws -> [HistoryTransaction] {
    guard limit >= 0 else {
      throw StoreError(
        .invalidRequest, "a limit is negative", [("limit", String(limit))], advice: "0 is no limit")
    }
    var found: [HistoryTransaction] = []
    try forEachHistory(after: token, of: entities, exceptBy: author) { transaction in
      found.append(transaction)
      return limit == 0 || found.count < limit
    }
    return found
  }

  /// Calls the closure with each transaction after a place, oldest first, until it returns `false`:
  /// memory is bounded by one transaction.
  ///
  /// - Throws: As `history(after:)`, `damaged` after those before the damage; what the closure
  ///   throws.
  public func forEachHistory(
    after token: HistoryToken? = nil, of entities: Set<String>? = nil,
    exceptBy author: String? = nil, _ body: (HistoryTransaction) throws -> Bool
  ) throws {
    let wanted = try entities.map { names in
      Set(try names.map { try catalog.entity($0).description.id })
    }
    let start = try sequence(of: token)
    guard let tree = historyTree else { return }
    let author = author.map(HistoryLog.kept(of:))
    var pending: HistoryCollection?
    try tree.forEach(after: start) { header in
      pending = HistoryCollection(header: header, wanted: wanted)
    } change: { change in
      pending?.add(change)
    } end: {
      guard let collection = pending, !collection.isEmpty,
        collection.header.author != author || author == nil
      else { return true }
      return try body(
        try collection.transaction(
          token: try self.token(after: collection.header.sequence), in: catalog))
    }
  }

  /// The number after which a token's changes begin.
  ///
  /// - Throws: `invalidToken`, `expiredToken`.
  func sequence(of token: HistoryToken?) throws -> Int64 {
    guard let token else { return 0 }
    guard token.storeID == catalog.uuid else {
      throw StoreError.foreignToken(token, store: catalog.uuid)
    }
    let last = try historyTree?.last() ?? 0
    guard token.sequence <= last else { throw StoreError.replacedToken(token) }
    let oldest = try historyTree?.first() ?? 1
    if token.sequence + 1 < oldest { throw StoreError.expiredToken(token, oldest: oldest) }
    if let mark = try historyTree?.mark(of: token.sequence), mark != token.mark {
      throw StoreError.replacedToken(token)
    }
    return token.sequence
  }

  /// The place right after the transaction of this number.
  private func token(after sequence: Int64) throws -> HistoryToken {
    HistoryToken(
      storeID: catalog.uuid, sequence: sequence,
      mark: sequence == 0 ? 0 : try historyTree?.mark(of: sequence) ?? 0)
  }

  var historyTree: HistoryTree? {
    catalog.historyTree.map { HistoryTree(tree: $0, transaction: transaction) }
  }
}

extension Store {
  /// The place in the history as of now.
  public func historyToken() throws -> HistoryToken { try read { try $0.historyToken() } }

  /// What was changed after a place; see `ReadTransaction.history(after:of:exceptBy:limit:)`.
  public func history(
    after token: HistoryToken? = nil, of entities: Set<String>? = nil,
    exceptBy author: String? = nil, limit: Int = 0
  ) throws -> [HistoryTransaction] {
    try read { try $0.history(after: token, of: entities, exceptBy: author, limit: limit) }
  }
}

/// Puts the changes of one transaction together: each record once.
struct HistoryCollection {
  struct Object: Hashable {
    let entityID: Int
    let id: Int64
  }

  struct Net {
    var kind: HistoryKind
    /// As in `HistoryTree.Change`.
    var properties: Set<Int> = []
    var isWhole = false
    /// By attribute's id: the values before the transaction.
    var values: [Int: Value] = [:]
  }

  let header: HistoryTree.Header
  let wanted: Set<Int>?
  private(set) var order: [Object] = []
  private(set) var changes: [Object: Net] = [:]
  private(set) var unrecorded: Set<Int> = []

  init(header: HistoryTree.Header, wanted: Set<Int>?) {
    self.header = header
    self.wanted = wanted
  }

  var isEmpty: Bool { changes.isEmpty && unrecorded.isEmpty }

  mutating func add(_ change: HistoryTree.Change) {
    if let wanted, !wanted.contains(change.entityID) { return }
    if change.kind == .unrecorded {
      unrecorded.insert(change.entityID)
      return
    }
    let object = Object(entityID: change.entityID, id: change.id)
    guard let before = changes[object] else {
      order.append(object)
      changes[object] = Net(change)
      return
    }
    changes[object] = before.followed(by: Net(change))
  }

  /// Each record once, in the order in which they were first changed.
  var objects: [(object: Object, net: Net)] {
    // One that was made, deleted and made again is in the order twice.
    var rest = changes
    return order.compactMap { object in rest.removeValue(forKey: object).map { (object, $0) } }
  }

  func transaction(token: HistoryToken, in catalog: Catalog) throws -> HistoryTransaction {
    let names = EntityNames(catalog.schema)
    return HistoryTransaction(
      token: token, author: header.author,
      date: Date(timeIntervalSinceReferenceDate: header.time),
      changes: objects.compactMap { names.change($0.object, $0.net) },
      unrecordedEntities: unrecorded.compactMap { names.name(of: $0) }.sorted())
  }
}

extension HistoryCollection.Net {
  fileprivate init(_ change: HistoryTree.Change) {
    kind = change.kind
    properties = Set(change.properties)
    for (attribute, kind, bytes) in change.values {
      // One that is unreadable is as one that was not kept; the check reports it.
      values[attribute] = try? RecordField.value(bytes, kind)
    }
  }

  /// What two changes of a record come to; `nil` for nothing.
  fileprivate func followed(by next: Self) -> Self? {
    var net = self
    // The first value that a change replaced is the one before the transaction; of what was changed
    // first without its value being kept, a later one says nothing.
    let earlier = next.values.filter { !properties.contains($0.key * 2) }
    net.values.merge(earlier) { first, _ in first }
    switch (kind, next.kind) {
    case (.insert, .delete): return nil
    case (.insert, _):
      net.values = [:]
      return net
    case (_, .delete):
      net.kind = .delete
      net.properties = []
      net.isWhole = false
      return net
    case (.delete, _):
      // Put back by a change that was taken back: some of it may differ.
      net.kind = .update
      net.isWhole = true
      return net
    case (_, _):
      net.properties.formUnion(next.properties)
      return net
    }
  }
}

/// Names of what the history knows by number.
struct EntityNames {
  private var entities: [Int: EntityDescription] = [:]

  init(_ schema: Schema) {
    for entity in schema.entities { entities[entity.id] = entity }
  }

  func name(of entityID: Int) -> String? { entities[entityID]?.name }

  /// - Returns: `nil` if the entity is no more.
  func change(_ object: HistoryCollection.Object, _ net: HistoryCollection.Net) -> HistoryChange? {
    guard let entity = entities[object.entityID] else { return nil }
    let kind: HistoryChange.Kind =
      switch net.kind {
      case .insert: .insert
      case .delete: .delete
      case .update, .unrecorded: .update
      }
    var names: [String] = []
    for attribute in entity.attributes where !attribute.isHidden {
      if net.isWhole || net.properties.contains(attribute.id * 2) { names.append(attribute.name) }
    }
    for relationship in entity.relationships where !relationship.isHidden {
      if net.properties.contains(relationship.id * 2 + 1) { names.append(relationship.name) }
    }
    var values: [String: Value] = [:]
    for attribute in entity.attributes where !attribute.isHidden {
      if let value = net.values[attribute.id] { values[attribute.name] = value }
    }
    return HistoryChange(
      objectID: ObjectID(entity: entity.name, number: object.id), kind: kind,
      changedProperties: names, values: values)
  }
}

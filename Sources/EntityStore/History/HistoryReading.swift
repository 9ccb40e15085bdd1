package import EntityModel
package import Foundation
import LMDB

extension ReadTransaction {
  /// Returns the position in the history of this transaction's snapshot; in a write transaction the
  /// position before it.
  ///
  /// - Complexity: O(log *n*).
  public func historyToken() throws -> HistoryToken {
    try token(after: try ownHistorySequence.map { $0 - 1 } ?? historyTree?.last() ?? 0)
  }

  /// Returns the changes after a position, oldest first.
  ///
  /// - Parameter token: `nil` begins with the oldest stored transaction, which may not be the first
  ///   there was.
  /// - Parameter entities: Leaves out changes of other entities, and transactions without a change
  ///   of these; `nil` includes all.
  /// - Parameter author: Leaves out the transactions of this author.
  /// - Parameter limit: The maximum number of transactions, at least 1; `nil` for no limit.
  /// - Throws: `invalidToken` for a token of another store or of a state from before a backup was
  ///   restored; `expiredToken` if changes after it have been dropped; `unknownEntity`,
  ///   `invalidRequest` for a limit below 1, `damaged`.
  /// - Complexity: O(log *n* + changes after the token).
  public func history(
    after token: HistoryToken? = nil, of entities: Set<String>? = nil,
    exceptBy author: String? = nil, limit: Int? = nil
  ) throws -> [HistoryTransaction] {
    if let limit, limit < 1 {
      throw StoreError(
        .invalidRequest, "a limit is not positive", [("limit", String(limit))],
        advice: "use nil for no limit")
    }
    var found: [HistoryTransaction] = []
    try forEachHistory(after: token, of: entities, exceptBy: author) { transaction in
      found.append(transaction)
      return limit.map { found.count < $0 } ?? true
    }
    return found
  }

  /// Calls the closure with each transaction after a position, oldest first, until it returns
  /// `false`. Memory is bounded by one transaction.
  ///
  /// - Throws: As `history(after:)`; `damaged` after the transactions before the damage; the
  ///   closure's error.
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
    let names = EntityNames(catalog.schema)
    var pending: HistoryCollection?
    try tree.forEach(after: start) { header in
      // The changes of this write so far are not a transaction yet.
      let isOwn = header.sequence == ownHistorySequence
      pending = isOwn ? nil : HistoryCollection(header: header, wanted: wanted)
    } change: { change in
      pending?.add(change)
    } end: {
      guard let collection = pending, !collection.isEmpty,
        collection.header.author != author || author == nil
      else { return true }
      let token = try self.token(after: collection.header.sequence)
      return try body(collection.transaction(token: token, names))
    }
  }

  /// Returns the number after which a token's changes begin.
  ///
  /// - Throws: `invalidToken`, `expiredToken`.
  package func sequence(of token: HistoryToken?) throws -> Int64 {
    guard let token else { return 0 }
    guard token.storeID == catalog.uuid else {
      throw StoreError.foreignToken(token, store: catalog.uuid)
    }
    let last = try historyTree?.last() ?? 0
    guard token.sequence <= last else { throw StoreError.replacedToken(token) }
    let oldest = try historyTree?.first() ?? 1
    if token.sequence < oldest - 1 { throw StoreError.expiredToken(token, oldest: oldest) }
    if let mark = try historyTree?.mark(of: token.sequence), mark != token.mark {
      throw StoreError.replacedToken(token)
    }
    return token.sequence
  }

  /// Returns the position directly after the transaction with this number.
  private func token(after sequence: Int64) throws -> HistoryToken {
    HistoryToken(
      storeID: catalog.uuid, sequence: sequence,
      mark: sequence == 0 ? 0 : try historyTree?.mark(of: sequence) ?? 0)
  }

  /// Returns the changes of a record in the newest transactions, the newest first.
  ///
  /// The search ends with the transaction in which one of the bounds is reached.
  ///
  /// - Parameter transactionsMax: The number of transactions that are searched.
  /// - Parameter changesMax: The number of changes of all records in them.
  /// - Complexity: O(changes in these transactions).
  package func lastChanges(
    of id: ObjectID, transactionsMax: Int, changesMax: Int
  ) throws -> RecordHistory {
    var found = RecordHistory()
    guard let tree = historyTree, let first = try tree.first() else { return found }
    let entityID = try catalog.entity(id.entity).description.id
    let names = EntityNames(catalog.schema)
    var sequence = try tree.last()
    var changesLeft = changesMax
    while sequence >= first, found.transactions < transactionsMax, changesLeft > 0 {
      var collection: HistoryCollection?
      try tree.forEach(after: sequence - 1) { header in
        collection = HistoryCollection(header: header, wanted: nil)
      } change: { change in
        changesLeft -= 1
        if change.id == id.number, change.entityID == entityID { collection?.add(change) }
      } end: {
        false
      }
      if let collection, !collection.isEmpty {
        found.add(collection.transaction(token: try token(after: sequence), names))
      }
      found.transactions += 1
      sequence -= 1
    }
    return found
  }

  /// The number of transactions that are stored.
  package var historyCount: Int64 {
    get throws {
      guard let tree = historyTree, let first = try tree.first() else { return 0 }
      return try tree.last() - first + 1
    }
  }

  package var historyTree: HistoryTree? {
    catalog.historyTree.map {
      HistoryTree(
        tree: $0, transaction: transaction,
        verifiedSince: verifiesReads ? catalog.schema.sealedHistorySince : nil)
    }
  }
}

/// The changes of a record in a part of the history.
package struct RecordHistory {
  /// The number of transactions that were searched.
  package fileprivate(set) var transactions = 0
  package private(set) var changes: [(date: Date, author: String?, change: HistoryChange)] = []

  fileprivate mutating func add(_ transaction: HistoryTransaction) {
    for change in transaction.changes {
      changes.append((transaction.date, transaction.author, change))
    }
  }
}

extension Store {
  /// Returns the current position in the history.
  public func historyToken() throws -> HistoryToken { try read { try $0.historyToken() } }

  /// Returns the changes after a position; see `ReadTransaction.history(after:of:exceptBy:limit:)`.
  public func history(
    after token: HistoryToken? = nil, of entities: Set<String>? = nil,
    exceptBy author: String? = nil, limit: Int? = nil
  ) throws -> [HistoryTransaction] {
    try read { try $0.history(after: token, of: entities, exceptBy: author, limit: limit) }
  }
}

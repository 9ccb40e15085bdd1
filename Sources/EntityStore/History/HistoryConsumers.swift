import EntityModel
public import Foundation

/// A named reader of the history whose position is stored, so that unread changes are not dropped.
public struct HistoryConsumer: Sendable {
  public let name: String
  public let token: HistoryToken
  /// The time of the last advance.
  public let updatedAt: Date
  /// The number of transactions after its token.
  public let unread: Int64
  /// True if some of these transactions have been dropped: then the consumer keeps no history, and
  /// must begin again.
  public let isExpired: Bool
}

extension ReadTransaction {
  /// Returns all consumers, by name.
  public func historyConsumers() throws -> [HistoryConsumer] {
    guard knowsConsumers else { return [] }
    var request = FetchRequest(entityName: HistoryTree.consumerEntity)
    request.sortBy = [SortKey("name")]
    let (last, oldest) = (try historyTree?.last() ?? 0, try historyTree?.first() ?? 1)
    return try fetch(request).compactMap { record in
      guard case .string(let name) = try record["name"],
        case .string(let text) = try record["token"], case .date(let date) = try record["updatedAt"]
      else { return nil }
      let token = try HistoryToken(text)
      return HistoryConsumer(
        name: name, token: token, updatedAt: date, unread: max(0, last - token.sequence),
        isExpired: token.sequence + 1 < oldest)
    }
  }

  /// Returns the position up to which a consumer has read.
  ///
  /// - Returns: `nil` if there is no consumer with this name.
  public func historyToken(of consumer: String) throws -> HistoryToken? {
    guard knowsConsumers,
      case .string(let text)? = try get(
        HistoryTree.consumerEntity, by: ["name": .string(consumer)])?["token"]
    else { return nil }
    return try HistoryToken(text)
  }

  /// False for a store of a version without history, which may be opened for reading.
  private var knowsConsumers: Bool {
    catalog.entities[HistoryTree.consumerEntity] != nil
  }
}

extension WriteTransaction {
  /// Stores the position up to which a consumer has read; creates the consumer if there is none
  /// with this name. If the consumer processes the changes in the same transaction, it processes
  /// each change exactly once.
  ///
  /// Use the token of the last transaction that was read (`HistoryTransaction.token`): a token that
  /// is requested after reading may be of a newer commit, whose changes would then be skipped. A
  /// consumer that has read to the end, and left out some entities or an author, advances to the
  /// `historyToken()` of the same read: otherwise the history would keep the transactions that were
  /// left out at the end.
  ///
  /// From then on the changes after the token are kept, within the bounds of `HistoryRetention`.
  ///
  /// - Throws: `invalidToken`, `expiredToken`; `invalidRequest` if there are too many consumers.
  public func advance(consumer: String, to token: HistoryToken) throws {
    let sequence = try sequence(of: token)
    if try objectID(HistoryTree.consumerEntity, by: ["name": .string(consumer)]) == nil,
      try count(of: HistoryTree.consumerEntity) >= StoreLimits.historyConsumersMax
    {
      throw StoreError(
        .invalidRequest, "the history has too many consumers",
        [("at most", String(StoreLimits.historyConsumersMax))],
        advice: "remove one that no longer reads: `mooring-dump history --consumers` lists them")
    }
    try upsert(
      HistoryTree.consumerEntity,
      [
        "name": .string(consumer), "token": .string(token.description),
        "sequence": .int64(sequence), "updatedAt": .date(now),
      ], by: ["name"])
  }

  /// Removes a consumer, whose unread changes may then be dropped.
  ///
  /// - Returns: True if it existed.
  @discardableResult
  public func removeConsumer(_ name: String) throws -> Bool {
    guard let id = try objectID(HistoryTree.consumerEntity, by: ["name": .string(name)]) else {
      return false
    }
    return try delete(id)
  }
}

extension Store {
  /// Stores the position up to which a consumer has read; see
  /// `WriteTransaction.advance(consumer:to:)`.
  public func advance(consumer: String, to token: HistoryToken) async throws {
    try await write { try $0.advance(consumer: consumer, to: token) }
  }
}

import EntityModel
public import Foundation

/// Somebody who reads the history by name and says how far, so that what is not read yet stays.
public struct HistoryConsumer: Sendable {
  public let name: String
  public let token: HistoryToken
  /// When it last moved.
  public let updatedAt: Date
  /// How many transactions came after its token.
  public let behind: Int64
  /// Whether some of them are no longer kept: then it holds nothing back, and must begin anew.
  public let isExpired: Bool
}

extension ReadTransaction {
  /// All consumers, by name.
  public func historyConsumers() throws -> [HistoryConsumer] {
    guard knowsConsumers else { return [] }
    var request = FetchRequest(entityName: WriteTransaction.consumerEntity)
    request.sortBy = [SortKey("name")]
    let (last, oldest) = (try historyTree?.last() ?? 0, try historyTree?.first() ?? 1)
    return try fetch(request).compactMap { record in
      guard case .string(let name) = try record["name"],
        case .string(let text) = try record["token"], case .date(let date) = try record["updatedAt"]
      else { return nil }
      let token = try HistoryToken(text)
      return HistoryConsumer(
        name: name, token: token, updatedAt: date, behind: max(0, last - token.sequence),
        isExpired: token.sequence + 1 < oldest)
    }
  }

  /// How far a consumer has read.
  ///
  /// - Returns: `nil` if there is no consumer of this name.
  public func historyToken(of consumer: String) throws -> HistoryToken? {
    guard knowsConsumers,
      case .string(let text)? = try get(
        WriteTransaction.consumerEntity, by: ["name": .string(consumer)])?["token"]
    else { return nil }
    return try HistoryToken(text)
  }

  /// A store that only reads is also opened from before it had a history.
  private var knowsConsumers: Bool {
    catalog.entities[WriteTransaction.consumerEntity] != nil
  }
}

extension WriteTransaction {
  package static let consumerEntity = "_HistoryConsumer"

  /// Says how far a consumer has read; makes the consumer if there is none of this name. In the
  /// same transaction as what the consumer does with the history, it does each change once.
  ///
  /// Take the token from the last transaction that was read (`HistoryTransaction.token`): one that
  /// is asked for after reading may be of a newer commit, whose changes would then be skipped. Who
  /// has read to the end, and left out some entities or an author, advances to the `historyToken()`
  /// of the same read: what was left out after the last transaction would be held back otherwise.
  ///
  /// From then on what comes after the token stays, within the bounds of `HistoryRetention`.
  ///
  /// - Throws: `invalidToken`, `expiredToken`; `invalidRequest` if there are too many consumers.
  public func advance(consumer: String, to token: HistoryToken) throws {
    let sequence = try sequence(of: token)
    if try objectID(Self.consumerEntity, by: ["name": .string(consumer)]) == nil,
      try count(of: Self.consumerEntity) >= Limits.historyConsumersMax
    {
      throw StoreError(
        .invalidRequest, "the history has too many consumers",
        [("at most", String(Limits.historyConsumersMax))],
        advice: "remove one that no longer reads: `mooring-dump history --consumers` lists them")
    }
    try upsert(
      Self.consumerEntity,
      [
        "name": .string(consumer), "token": .string(token.description),
        "sequence": .int64(sequence), "updatedAt": .date(now),
      ], by: ["name"])
  }

  /// Forgets a consumer: it holds nothing back any more.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  public func removeConsumer(_ name: String) throws -> Bool {
    guard let id = try objectID(Self.consumerEntity, by: ["name": .string(name)]) else {
      return false
    }
    return try delete(id)
  }
}

extension Store {
  /// Says how far a consumer has read; see `WriteTransaction.advance(consumer:to:)`.
  public func advance(consumer: String, to token: HistoryToken) async throws {
    try await write { try $0.advance(consumer: consumer, to: token) }
  }
}

public import Foundation

/// A position in the history of one store, between two transactions.
///
/// Its text contains a checksum, so that a truncated or altered text is refused and never read as
/// another position.
public struct HistoryToken: Hashable, Sendable, Codable, CustomStringConvertible {
  public let storeID: UUID
  /// The number of the transaction before it; 0 before the first one.
  public let sequence: Int64
  /// A hash of that transaction: in a store restored from a backup another one may have the same
  /// number.
  let mark: Int64
}

extension HistoryToken {
  /// Decodes a token's text.
  ///
  /// - Throws: `invalidToken`.
  public init(_ text: String) throws(StoreError) {
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
    guard let data = Data(base64Encoded: base64), data.count == HistoryToken.byteCount,
      data[0] == 1
    else { throw HistoryToken.unreadable(text) }
    let bytes = Array(data)
    guard Array(bytes.suffix(8)) == HistoryToken.checksum(of: bytes.dropLast(8)) else {
      throw HistoryToken.unreadable(text)
    }
    (storeID, sequence, mark) = bytes.withUnsafeBytes { bytes in
      (
        UUID(uuid: bytes.loadUnaligned(fromByteOffset: 1, as: uuid_t.self)),
        Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: 17, as: Int64.self)),
        Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: 25, as: Int64.self))
      )
    }
    if sequence < 0 || sequence == .max { throw HistoryToken.unreadable(text) }
  }

  /// The text: 56 characters of base64url over a version byte (1), the store's UUID, sequence, mark
  /// (big-endian) and XXH3 of these, padded to a multiple of 3.
  public var description: String {
    let bytes = withoutChecksum
    return Data(bytes + HistoryToken.checksum(of: bytes[...])).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_")
  }

  public init(from decoder: any Decoder) throws {
    try self.init(try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  private static let byteCount = 42

  private var withoutChecksum: [UInt8] {
    var bytes: [UInt8] = [1]
    withUnsafeBytes(of: storeID.uuid) { bytes.append(contentsOf: $0) }
    for number in [sequence, mark] {
      withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
    return bytes + [0]
  }

  private static func checksum(of bytes: ArraySlice<UInt8>) -> [UInt8] {
    let hash = Array(bytes).withUnsafeBytes { ContentHash.of($0) }
    return withUnsafeBytes(of: hash.bigEndian) { Array($0) }
  }

  private static func unreadable(_ text: String) -> StoreError {
    StoreError(
      .invalidToken, "a history token cannot be read", [("token", String(text.prefix(80)))],
      advice: "pass it unchanged, or start again: get a new one, then fetch everything")
  }
}

extension StoreError {
  static func foreignToken(_ token: HistoryToken, store: UUID) -> StoreError {
    StoreError(
      .invalidToken, "a history token belongs to another store",
      [("token's store", token.storeID.uuidString), ("this store", store.uuidString)],
      advice: "start again: get a new token, then fetch everything")
  }

  static func replacedToken(_ token: HistoryToken) -> StoreError {
    StoreError(
      .invalidToken, "a history token belongs to a state that the store no longer has",
      [("sequence", String(token.sequence))],
      advice: "a backup was restored; start again: get a new token, then fetch everything")
  }

  static func expiredToken(_ token: HistoryToken, oldest: Int64) -> StoreError {
    StoreError(
      .expiredToken, "the history no longer reaches back to the token",
      [("sequence", String(token.sequence)), ("oldest stored", String(oldest))],
      advice: "start again: get a new token, then fetch everything")
  }
}

/// The bounds of a store's change history.
///
/// A transaction is removed when it is older than `age`, or when it is the oldest one and the
/// history is larger than `bytes`. A transaction that a named consumer has not read stays until it
/// is older than `consumerAge` or the history is larger than `consumerBytes`; then the consumer's
/// token has expired. The newest transaction always stays.
public struct HistoryRetention: Codable, Hashable, Sendable {
  /// The greatest age of a transaction, in seconds.
  public var age: Double
  public var bytes: Int
  /// The greatest age of a transaction that a consumer has not read, in seconds; at least `age`.
  public var consumerAge: Double
  /// The greatest size of a history that a consumer has not read; at least `bytes`.
  public var consumerBytes: Int

  /// A week and 64 MiB; for consumers a month and 256 MiB.
  public static let standard = HistoryRetention(
    age: 7 * 86_400, bytes: 64 << 20, consumerAge: 30 * 86_400, consumerBytes: 256 << 20)

  public init(age: Double, bytes: Int, consumerAge: Double, consumerBytes: Int) {
    self.age = age
    self.bytes = bytes
    self.consumerAge = max(age, consumerAge)
    self.consumerBytes = max(bytes, consumerBytes)
  }
}

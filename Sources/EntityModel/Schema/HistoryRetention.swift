/// How much of its history a store keeps.
///
/// A transaction goes when it is older than `age`, or when the history is larger than `bytes` and
/// it is the oldest. One that a named consumer has not read yet stays all the same, until it is
/// older than `consumerAge` or the history larger than `consumerBytes`; then the consumer's token
/// has expired. The newest transaction always stays.
public struct HistoryRetention: Codable, Hashable, Sendable {
  /// Seconds.
  public var age: Double
  public var bytes: Int
  /// Seconds; at least `age`.
  public var consumerAge: Double
  /// At least `bytes`.
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

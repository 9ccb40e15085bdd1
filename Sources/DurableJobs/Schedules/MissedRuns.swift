/// The treatment of times that passed while no runner was active.
public enum MissedRuns: Sendable, Hashable, CustomStringConvertible {
  /// Runs the latest due time, and only if it is not missed.
  case skip
  /// Runs the latest due time once, however late it is.
  case once
  /// Runs each of the latest `max` due times.
  case all(max: Int)

  /// The largest `max`.
  public static let maxLimit = 1000

  /// Reads `skip`, `once`, `all` (64 at most) or `all:` with a number, as `all:10`.
  ///
  /// - Throws: `JobError` with the code `invalidSchedule`.
  public init(_ text: String) throws {
    switch text {
    case "skip": self = .skip
    case "once": self = .once
    case "all": self = .all(max: 64)
    default:
      guard text.hasPrefix("all:"), let max = Int(text.dropFirst(4)) else {
        throw JobError(
          .invalidSchedule, "what becomes of missed runs cannot be read", [("text", "\"\(text)\"")],
          advice: "write skip, once, all or all:10")
      }
      self = .all(max: max)
      try check()
    }
  }

  /// The text that reads as this value.
  public var description: String {
    switch self {
    case .skip: "skip"
    case .once: "once"
    case .all(let max): "all:\(max)"
    }
  }

  func check() throws {
    guard case .all(let max) = self, !(1...Self.maxLimit).contains(max) else { return }
    throw JobError(
      .invalidSchedule, "the number of missed runs is out of its range", [("max", "\(max)")],
      advice: "write 1 to \(Self.maxLimit)")
  }
}

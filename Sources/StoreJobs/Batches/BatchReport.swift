public import EntityObjects
public import EntityStore

/// What a batch job has done, with what attempts before that were interrupted had done.
public struct BatchReport: Codable, Hashable, Sendable {
  public var counts: BatchResult.Counts
  /// Whether it went on from where another attempt had stopped.
  public var isResumed: Bool
  /// The first of the items that were refused, each in one line.
  public var errors: [String]

  init(_ result: BatchResult) {
    counts = result.counts
    isResumed = result.isResumed
    errors = result.errors.prefix(Limits.problemsListedMax).map(\.description)
  }
}

/// Durations of podcasts.
enum FeedDuration {
  /// The seconds of `3723`, `62:03`, `1:02:03` or `3723.5`; nil for what is none of them.
  static func seconds(_ text: String) -> Int? {
    let parts = text.trimmed.split(
      separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count) else { return nil }
    var total = 0.0
    for part in parts {
      guard part.utf8.count <= 9, let value = Double(part), value >= 0, value.isFinite else {
        return nil
      }
      total = total * 60 + value
    }
    return total <= 1_000_000_000 ? Int(total) : nil
  }
}

/// What the attribute `uniqueKey` holds:
///
///     feed.sync:7       the job has the key, and keeps others with the same out
///     12/feed.sync:7    job 12 has given the key up to run, and takes it again when it waits again
///
/// No kind has a slash in it, and a number is of one job only, so a key that was given up is in nobody's
/// way.
extension JobRecord {
  /// The key that the job has: with its kind before it.
  var uniqueKey: String? {
    get { string(.uniqueKey).flatMap { $0.hasPrefix(mark) ? nil : $0 } }
    set { set(.uniqueKey, newValue) }
  }

  /// The key that the job had before it began to run.
  var uniqueKeyGivenUp: String? {
    string(.uniqueKey).flatMap { $0.hasPrefix(mark) ? String($0.dropFirst(mark.count)) : nil }
  }

  mutating func giveUpUniqueKey() {
    if let uniqueKey { set(.uniqueKey, mark + uniqueKey) }
  }

  private var mark: String { "\(id)/" }
}

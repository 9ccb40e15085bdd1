/// The attribute `uniqueKey` holds one of:
///
///     feed.sync:7       the job has the key, and no other job can have it
///     12/feed.sync:7    job 12 has released the key to run, and takes it again when it waits again
///
/// A kind has no slash, and a number belongs to one job, so a released key never equals another key.
extension JobRecord {
  /// The key that the job holds, with its kind as a prefix; `nil` if it holds none.
  var uniqueKey: String? {
    get { string(.uniqueKey).flatMap { $0.hasPrefix(mark) ? nil : $0 } }
    set { set(.uniqueKey, newValue) }
  }

  /// The key that the job has released to run; `nil` if it has released none.
  var releasedUniqueKey: String? {
    string(.uniqueKey).flatMap { $0.hasPrefix(mark) ? String($0.dropFirst(mark.count)) : nil }
  }

  mutating func releaseUniqueKey() {
    if let uniqueKey { set(.uniqueKey, mark + uniqueKey) }
  }

  private var mark: String { "\(id)/" }
}

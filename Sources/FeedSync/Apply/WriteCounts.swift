/// The counts of what the writes of a run have done.
struct WriteCounts: Sendable {
  var new = 0
  var changed = 0
  var unchanged = 0
  var deleted = 0
  var skipped = 0
  var revisionClashes = 0
  var userValues = 0
  /// The entries of users that wait for their item.
  var usersWaiting = 0

  /// The items that the writes have decided about.
  var items: Int { new + changed + unchanged + deleted + skipped }
}

extension SyncReport {
  /// Returns the report with the counts of writes added.
  func adding(_ counts: WriteCounts) -> SyncReport {
    var report = self
    report.new += counts.new
    report.changed += counts.changed
    report.unchanged += counts.unchanged
    report.deleted += counts.deleted
    report.skipped += counts.skipped
    report.revisionClashes += counts.revisionClashes
    report.userValues += counts.userValues
    return report
  }
}

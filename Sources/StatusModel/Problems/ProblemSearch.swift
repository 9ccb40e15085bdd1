import Foundation

/// Finds what needs attention in a status.
struct ProblemSearch {
  let status: StoreStatus
  private var found: [Problem] = []

  init(_ status: StoreStatus) {
    self.status = status
    searchStore()
    searchWorkers()
    searchMigrations()
    searchFeeds()
    searchJobs()
    searchHistory()
    searchBackups()
    searchFetches()
  }

  /// The problems, the worst first, and of one severity in the order of the search.
  var problems: [Problem] {
    Problem.Severity.allCases.flatMap { severity in found.filter { $0.severity == severity } }
  }

  mutating func add(
    _ severity: Problem.Severity, _ section: Problem.Section, _ summary: String,
    since: Date? = nil, advice: String
  ) {
    found.append(
      Problem(
        severity: severity, section: section, summary: summary, since: since, advice: advice))
  }

  /// Returns `1 feed` or `3 feeds`.
  func count(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : plural ?? "\(noun)s")"
  }
}

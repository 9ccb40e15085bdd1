/// The condition of a feed, the worst first.
public enum FeedCondition: String, CaseIterable, Codable, Sendable {
  /// Its server has answered that it is gone for good. It is paused since then.
  case gone
  /// Its last run has failed.
  case failing
  /// It was to be requested long ago, and was not: no worker runs, or it has too much to do.
  case late
  /// Its server has asked to wait, as after too many requests.
  case waiting
  /// It is requested, and nothing in it has changed for ninety days.
  case silent
  /// It has not been requested yet.
  case new
  /// It is up to date.
  case current
  /// The operator has paused it.
  case paused
}

extension FeedCondition: Comparable {
  /// Orders the conditions from the worst on, as in `allCases`.
  public static func < (a: FeedCondition, b: FeedCondition) -> Bool { a.severity < b.severity }

  private var severity: Int {
    switch self {
    case .gone: 0
    case .failing: 1
    case .late: 2
    case .waiting: 3
    case .silent: 4
    case .new: 5
    case .current: 6
    case .paused: 7
    }
  }
}

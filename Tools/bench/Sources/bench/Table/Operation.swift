import Foundation

/// A line of the table: an operation, its unit, and the targets that Mooring has for it.
struct Operation {
  enum Better: String { case higher, lower }

  let title: String
  let unit: String
  let better: Better
  let targets: [Target]

  init(_ title: String, _ unit: String, _ better: Better = .lower, _ targets: [Target] = []) {
    self.title = title
    self.unit = unit
    self.better = better
    self.targets = targets
  }

  /// The title without the spaces that indent it below another one.
  var name: String { title.trimmingCharacters(in: .whitespaces) }
}

/// A goal for Mooring in an operation.
struct Target {
  enum Bound {
    /// At least this many times better than a candidate, which may be Mooring itself. `operation`
    /// is the title of the candidate's operation; nil for the same operation.
    case atLeast(Double, CandidateName, operation: String? = nil)
    /// At most this many times what the candidate needs.
    case atMost(Double, CandidateName, operation: String? = nil)
    /// At most this value, in the unit of the operation.
    case atMostItself(Double)
  }

  let bound: Bound
  /// The number of rows that the target applies to; nil for any.
  var rows: Int?

  init(_ bound: Bound, rows: Int? = nil) {
    self.bound = bound
    self.rows = rows
  }

  /// The candidate that Mooring is compared with; nil for an absolute bound.
  var other: CandidateName? {
    switch bound {
    case .atLeast(_, let candidate, _), .atMost(_, let candidate, _): candidate
    case .atMostItself: nil
    }
  }
}

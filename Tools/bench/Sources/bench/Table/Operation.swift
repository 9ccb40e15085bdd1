import Foundation

/// A line of the table, and what is asked of Mooring in it.
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

  /// The title without the space that puts it under another one.
  var name: String { title.trimmingCharacters(in: .whitespaces) }
}

/// A ratio to reach.
struct Target {
  enum Bound {
    /// So many times better than a candidate, which may be Mooring itself in another operation;
    /// `operation` is the title of what that one does, if it is not the same.
    case atLeast(Double, CandidateName, operation: String? = nil)
    /// So many times what a candidate needs, at most.
    case atMost(Double, CandidateName, operation: String? = nil)
    /// So much, at most, in the unit of the operation.
    case atMostItself(Double)
  }

  let bound: Bound
  /// Asked of a store of so many rows; nil for any.
  var rows: Int?

  init(_ bound: Bound, rows: Int? = nil) {
    self.bound = bound
    self.rows = rows
  }

  /// What it is held against; nil for a figure of its own.
  var other: CandidateName? {
    switch bound {
    case .atLeast(_, let candidate, _), .atMost(_, let candidate, _): candidate
    case .atMostItself: nil
    }
  }
}

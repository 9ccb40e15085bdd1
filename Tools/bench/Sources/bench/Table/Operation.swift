import Foundation

/// A line of the table: an operation, its unit, and the bar for Mooring.
struct Operation {
  enum Better: String { case higher, lower }

  let title: String
  let unit: String
  let better: Better
  /// Nil for a measurement that is only shown.
  let bar: Bar?

  init(_ title: String, _ unit: String, _ better: Better = .lower, _ bar: Bar? = nil) {
    self.title = title
    self.unit = unit
    self.better = better
    self.bar = bar
  }

  /// The title without the spaces that indent it below another one.
  var name: String { title.trimmingCharacters(in: .whitespaces) }
}

/// The requirement for Mooring in an operation.
enum Bar: Equatable {
  /// At least this many times as fast as a candidate.
  case atLeast(Double, CandidateName)
  /// At most this many times what a candidate needs.
  case atMost(Double, CandidateName)
  /// At most this value, in the unit of the operation.
  case atMostItself(Double)
  /// At least this value, in the unit of the operation.
  case atLeastItself(Double)

  /// SQLite in C is not faster. Two runs of the same program differ by the missing twentieth.
  static let notSlower = Bar.atLeast(0.95, .sqlite)
  /// The bar for commits so small that the two flushes of each one bound their speed. SQLite
  /// flushes once.
  static let twoFlushes = Bar.atLeast(0.9, .raw)

  /// The text of the bar, as in `at least 0.9 of raw C`.
  var text: String {
    switch self {
    case .atLeast(let factor, .sqlite): "at least \(plain(factor))"
    case .atLeast(let factor, let other): "at least \(plain(factor)) of \(other)"
    case .atMost(let factor, let other): "at most \(plain(factor)) times \(other)"
    case .atMostItself(let value): "at most \(plain(value))"
    case .atLeastItself(let value): "at least \(plain(value))"
    }
  }
}

/// The comparison of a measurement with its bar.
struct Verdict {
  let bar: Bar
  /// The number that the bar bounds: how many times as fast Mooring is, how many times as much it
  /// needs, or the measurement itself.
  let reached: Double

  var isMet: Bool {
    switch bar {
    case .atLeast(let bound, _), .atLeastItself(let bound): reached >= bound
    case .atMost(let bound, _), .atMostItself(let bound): reached <= bound
    }
  }

  /// The number as text. A ratio is never rounded toward its bar.
  var reachedText: String {
    switch bar {
    case .atLeast: ratioText(reached)
    case .atMost: ratioText(reached, .up)
    case .atMostItself: numberText(reached)
    case .atLeastItself: ratioText(reached)
    }
  }
}

extension Measurement {
  /// How many times as fast Mooring is as SQLite in C, or how many times smaller its value is where
  /// a lower one is better; nil if one of them was not measured.
  var timesSQLite: Double? { times(.sqlite) }

  /// How many times as fast raw LMDB is as SQLite in C, if that misses the bar and Mooring misses
  /// it, too. The bar is then dropped, because a store on LMDB cannot reach it.
  var limitBelowBar: Double? {
    guard case .atLeast(let bound, .sqlite)? = operation.bar, let own = timesSQLite, own < bound,
      let limit = times(.sqlite, of: .raw), limit < bound
    else { return nil }
    return limit
  }

  /// The comparison with the bar; nil without one, if it is dropped, or if a candidate was not
  /// measured.
  var verdict: Verdict? {
    guard let bar = operation.bar, limitBelowBar == nil else { return nil }
    let reached: Double? =
      switch bar {
      case .atLeast(_, let other): times(other)
      case .atMost(_, let other): times(other).map { 1 / $0 }
      case .atMostItself, .atLeastItself: summary(of: .mooring)?.median
      }
    return reached.map { Verdict(bar: bar, reached: $0) }
  }

  /// Returns how many times better the median of a candidate is than another's.
  private func times(_ other: CandidateName, of own: CandidateName = .mooring) -> Double? {
    guard let own = summary(of: own)?.median, let other = summary(of: other)?.median, own > 0,
      other > 0
    else { return nil }
    return operation.better == .higher ? own / other : other / own
  }
}

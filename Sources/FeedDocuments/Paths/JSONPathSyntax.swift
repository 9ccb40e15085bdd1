/// The syntax tree of an expression, in the terms of RFC 9535.
extension JSONPath {
  struct Query: Sendable {
    /// True if the query begins at `$`, the root; false for `@`, the filter's current node.
    var isAbsolute: Bool
    var segments: [Segment] = []

    var isSingular: Bool { segments.allSatisfy(\.isSingular) }
  }

  struct Segment: Sendable {
    var isDescendant = false
    var selectors: [Selector]

    var isSingular: Bool {
      guard !isDescendant, selectors.count == 1 else { return false }
      switch selectors[0] {
      case .name, .index: return true
      case .wildcard, .slice, .filter: return false
      }
    }
  }

  enum Selector: Sendable {
    /// A member's name in UTF-8.
    case name([UInt8])
    case wildcard
    case index(Int)
    case slice(Slice)
    indirect case filter(Condition)
  }

  struct Slice: Sendable {
    var start: Int?
    var end: Int?
    var step = 1
  }

  indirect enum Condition: Sendable {
    case any([Condition])
    case all([Condition])
    case not(Condition)
    /// True if the query selects anything.
    case exists(Query)
    case comparison(Operand, Comparison, Operand)
    case match(Operand, Pattern, isWhole: Bool)
  }

  enum Comparison: Sendable {
    case equal, unequal, less, lessOrEqual, greater, greaterOrEqual
  }

  /// An operand, whose value may be absent, which the RFC calls Nothing.
  indirect enum Operand: Sendable {
    case literal(Literal)
    case query(Query)
    case length(Operand)
    case count(Query)
    case value(Query)
  }

  enum Literal: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Any other number: its text and the nearest double, if that is finite.
    case number([UInt8], Double?)
    case string([UInt8])
  }

  enum Pattern: Sendable {
    /// A literal pattern; nil if it is no I-Regexp, so that it matches nothing.
    case fixed(IRegexp?)
    case computed(Operand)
  }
}

import EntityModel

/// The way in which the records of a fetch are found.
package enum RecordAccess {
  /// The predicate is never true.
  case nothing
  /// Every record, in order of record id.
  case scan
  /// The records with these ids, in order of record id.
  case identifiers([Int64])
  case index(IndexAccess)
  /// The records of all these accesses, without duplicates, in order of record id.
  case union([IndexAccess])

  var indexes: [IndexAccess] {
    switch self {
    case .index(let access): [access]
    case .union(let accesses): accesses
    case .nothing, .scan, .identifiers: []
    }
  }
}

/// Ranges of one index, and the order in which they are read.
package struct IndexAccess {
  let index: IndexLayout
  /// The disjoint ranges, in the order of the keys.
  var ranges: [KeyRange]
  /// The number of leading bytes that all keys of a range have in common, by range.
  var prefixCounts: [Int]
  var order = Order.none
  var isReversed = false
  /// True if a record may have several entries in the ranges.
  var mayRepeat = false
  /// The number of leading key parts that have one value in each range; ranges are merged by the
  /// parts after them.
  var mergedFrom = 0

  /// The number of leading key parts that order the entries; records with equal values in them are
  /// in order of record id.
  var orderedParts: Int {
    switch order {
    case .none: index.parts.count
    case .keys(let parts), .merged(let parts): parts
    }
  }

  /// The order of the entries.
  enum Order: Equatable {
    /// No order: the records are sorted afterwards, if the request needs it.
    case none
    /// One range after the other, each in key order: by this number of leading key parts, then by
    /// record id.
    case keys(parts: Int)
    /// All ranges merged by the key parts after their prefixes, up to the part with this number,
    /// then by record id.
    case merged(parts: Int)
  }
}

/// An access with everything that is needed to run it.
struct AccessPlan {
  var access: RecordAccess
  /// The predicate that remains to be checked on each record.
  var filter: PredicateProgram?
  /// The sort keys of the sort in memory; empty if the access gives the order.
  var sort: [BoundSort] = []
  /// True if the records are to be sorted by record id.
  var sortsByIdentity = false
  /// True if the keys of the index hold all requested values.
  var isIndexOnly = false
  var isSkipScan = false
  /// True if the choice does not depend on costs: it is the same for every content of the store.
  var isCertain = false
  /// The parts of the predicate that the ranges come from, and that the filter checks. They are
  /// converted to text only for an explanation, because that takes too long for a fetch.
  var used: [FetchPredicate] = []
  var filtered: [FetchPredicate] = []
  var rejected: [Rejection] = []

  /// True if the request needs nothing but to read the records of the access, and the choice does
  /// not depend on costs.
  var isReusable: Bool { isCertain && filter == nil && sort.isEmpty && !sortsByIdentity }

  /// The plan without the parts that only an explanation needs.
  var withoutExplanation: AccessPlan {
    var plan = self
    (plan.used, plan.filtered, plan.rejected) = ([], [], [])
    return plan
  }

  /// The reason why an index was not taken.
  struct Rejection {
    let index: IndexLayout
    let reason: Reason

    enum Reason {
      case unfit(StaticString)
      /// The cost of the index and the cost of the plan that was taken instead, in entries read.
      case costs(Double, Double)
    }
  }
}

/// A sort key bound to an entity.
package struct BoundSort {
  package let program: ExpressionProgram
  /// The position of the attribute, if it is one of the record itself.
  let position: Int?
  /// The collation by which texts are compared; `nil` for their bytes.
  package let key: KeyCollation?
  package let isDescending: Bool
}

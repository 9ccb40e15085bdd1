import EntityModel

/// How the records of a fetch are found.
package enum Access {
  /// The predicate is never true.
  case nothing
  /// Every record, in order of object id.
  case scan
  /// These records, in order of object id.
  case identifiers([Int64])
  case index(IndexAccess)
  /// The records that any of these gives, each once, in order of object id.
  case union([IndexAccess])
}

/// Ranges of one index, and the order in which they are read.
package struct IndexAccess {
  let index: IndexLayout
  /// Disjoint, in the order of the keys.
  var ranges: [KeyRange]
  /// For each range the bytes that all its keys begin with.
  var prefixCounts: [Int]
  var order = Order.none
  var isReversed = false
  /// A record may have several entries in the ranges.
  var mayRepeat = false
  /// How many leading key parts have one value in each range: ranges are merged by the others.
  var mergedFrom = 0

  /// How many leading key parts order the entries; records that agree in them come in order of
  /// object id.
  var orderedParts: Int {
    switch order {
    case .none: index.parts.count
    case .keys(let parts), .merged(let parts): parts
    }
  }

  /// What order the entries come in.
  enum Order: Equatable {
    /// None that is asked for: the records are put in order afterwards.
    case none
    /// One range after the other, each by the keys: the order of the first so many key parts, then
    /// of object ids.
    case keys(parts: Int)
    /// All ranges merged by what follows their prefixes, up to the key part of that number, then
    /// by object ids.
    case merged(parts: Int)
  }
}

/// An access with all that running it takes.
struct AccessPlan {
  var access: Access
  /// What is left to be checked of each record.
  var filter: PredicateProgram?
  /// What the records are sorted by in memory; empty if the access gives the order.
  var sort: [BoundSort] = []
  /// The records are to be put in order of object id.
  var sortsByIdentity = false
  /// The keys of the index hold all that is asked.
  var isIndexOnly = false
  var isSkipScan = false
  /// The choice owes nothing to costs: it is the same whatever the store holds.
  var isCertain = false
  /// What of the predicate the ranges come from, and what the filter checks. A fetch has no time
  /// for words; an explanation makes them of this.
  var used: [FetchPredicate] = []
  var filtered: [FetchPredicate] = []
  var rejected: [Rejection] = []

  /// Whether nothing is left of the request but to read what the access gives.
  var isSettled: Bool { isCertain && filter == nil && sort.isEmpty && !sortsByIdentity }

  var indexNumbers: [Int] {
    switch access {
    case .index(let access): [access.index.number]
    case .union(let accesses): accesses.map(\.index.number)
    case .nothing, .scan, .identifiers: []
    }
  }

  /// Why an index was not taken.
  struct Rejection {
    let index: IndexLayout
    let reason: Reason

    enum Reason {
      case unfit(StaticString)
      /// It costs so much, and what was taken instead so much, in entries read.
      case costs(Double, Double)
    }
  }
}

/// A sort key bound to an entity.
package struct BoundSort {
  package let program: ExpressionProgram
  /// Where it is an attribute of the record itself.
  let position: Int?
  /// What texts are compared by; `nil` for their bytes.
  package let key: KeyCollation?
  package let isDescending: Bool
}

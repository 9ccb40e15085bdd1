import EntityModel

/// One row while a predicate or an expression is evaluated on it.
struct FetchRow {
  let id: Int64
  let fields: Fields

  /// Where its values come from.
  enum Fields {
    case record(RecordView)
    /// By position: what an index key holds, or the columns of a group.
    case values([Value])
    /// There is no record at the end of a to-one relationship: every attribute is null.
    case missing
  }

  static var missing: FetchRow { FetchRow(id: 0, fields: .missing) }

  init(id: Int64, fields: Fields) {
    self.id = id
    self.fields = fields
  }

  init(id: Int64, view: RecordView) { self.init(id: id, fields: .record(view)) }

  func value(_ position: Int) throws(RecordDamage) -> Value {
    switch fields {
    case .record(let view): try view.value(position)
    case .values(let values): values[position]
    case .missing: .null
    }
  }
}

/// True, false, or neither where null is compared.
enum Logic {
  case yes, no, unknown

  @inline(__always)
  init(_ condition: Bool) { self = condition ? .yes : .no }

  var negated: Logic {
    switch self {
    case .yes: .no
    case .no: .yes
    case .unknown: .unknown
    }
  }
}

/// The comparison operators that ask for the order alone.
enum OrderTest {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

  init?(_ comparison: ComparisonOperator) {
    switch comparison {
    case .equal: self = .equal
    case .notEqual: self = .notEqual
    case .less: self = .less
    case .lessOrEqual: self = .lessOrEqual
    case .greater: self = .greater
    case .greaterOrEqual: self = .greaterOrEqual
    case .between, .isIn, .contains, .beginsWith, .endsWith, .like, .matches: return nil
    }
  }

  /// What holds of the sides when they change places.
  var mirrored: OrderTest {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }

  /// What holds where this does not, null aside.
  var negated: OrderTest {
    switch self {
    case .equal: .notEqual
    case .notEqual: .equal
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .greater: .lessOrEqual
    case .greaterOrEqual: .less
    }
  }

  @inline(__always)
  func holds<T: Comparable>(_ left: T, _ right: T) -> Bool {
    switch self {
    case .equal: left == right
    case .notEqual: left != right
    case .less: left < right
    case .lessOrEqual: left <= right
    case .greater: left > right
    case .greaterOrEqual: left >= right
    }
  }

  func holds(_ ordering: Ordering) -> Bool {
    switch self {
    case .equal: ordering == .same
    case .notEqual: ordering != .same
    case .less: ordering == .ascending
    case .lessOrEqual: ordering != .descending
    case .greater: ordering == .descending
    case .greaterOrEqual: ordering != .ascending
    }
  }
}

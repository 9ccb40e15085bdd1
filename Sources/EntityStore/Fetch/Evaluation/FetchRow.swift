package import EntityModel
import Foundation

/// One row while a predicate or an expression is evaluated on it.
package struct FetchRow {
  package let id: Int64
  package let fields: Fields

  /// Where its values come from.
  package enum Fields {
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

  package init(id: Int64, view: RecordView) { self.init(id: id, fields: .record(view)) }

  /// The value as rows and expressions have it.
  func value(_ position: Int) throws(RecordDamage) -> Value {
    switch fields {
    case .record(let view): try FetchRow.value(of: view.field(position))
    case .values(let values): values[position]
    case .missing: .null
    }
  }

  /// Index keys know one zero, so that a record's −0.0 is 0.0 here too: otherwise the way to an
  /// answer would show in it.
  static func value(of field: RecordField) throws(RecordDamage) -> Value {
    try field.value().withOneZero
  }
}

extension Value {
  fileprivate var withOneZero: Value {
    switch self {
    case .double(0): .double(0)
    case .date(let date) where date.timeIntervalSinceReferenceDate == 0:
      .date(Date(timeIntervalSinceReferenceDate: 0))
    default: self
    }
  }
}

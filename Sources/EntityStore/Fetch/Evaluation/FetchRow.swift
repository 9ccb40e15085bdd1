package import EntityModel
import Foundation

/// One row while a predicate or an expression is evaluated on it.
package struct FetchRow {
  package let id: Int64
  package let fields: Fields

  /// The source of its values.
  package enum Fields {
    case record(RecordView)
    /// Values by position: the parts of an index key, or the columns of a group.
    case values([Value])
    /// No record at the end of a to-one relationship: every attribute is null.
    case missing
  }

  static var missing: FetchRow { FetchRow(id: 0, fields: .missing) }

  init(id: Int64, fields: Fields) {
    self.id = id
    self.fields = fields
  }

  package init(id: Int64, view: RecordView) { self.init(id: id, fields: .record(view)) }

  /// Returns the value as rows and expressions see it.
  func value(_ position: Int) throws(RecordDamage) -> Value {
    switch fields {
    case .record(let view): try FetchRow.value(of: view.field(position))
    case .values(let values): values[position]
    case .missing: .null
    }
  }

  /// Returns the value of a field. Index keys do not distinguish −0.0 from 0.0, so that a record's
  /// −0.0 is 0.0 here, too: otherwise the result would depend on the plan.
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

import EntityModel
import Foundation

extension Value {
  var int64Value: Int64? { if case .int64(let number) = self { number } else { nil } }
  var doubleValue: Double? { if case .double(let number) = self { number } else { nil } }
  var stringValue: String? { if case .string(let text) = self { text } else { nil } }
  var dateValue: Date? { if case .date(let date) = self { date } else { nil } }
  var dataValue: Data? { if case .data(let data) = self { data } else { nil } }
}

import EntityModel
import EntityStore
import Foundation

extension Value {
  var int64Value: Int64? { if case .int64(let number) = self { number } else { nil } }
  var doubleValue: Double? { if case .double(let number) = self { number } else { nil } }
  var stringValue: String? { if case .string(let text) = self { text } else { nil } }
  var dateValue: Date? { if case .date(let date) = self { date } else { nil } }
  var dataValue: Data? { if case .data(let data) = self { data } else { nil } }
}

extension Record {
  mutating func set(_ values: [String: Value]) throws {
    for (name, value) in values { try set(name, to: value) }
  }
}

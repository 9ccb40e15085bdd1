package import Foundation

/// What a property list holds.
package enum PropertyListValue: Hashable, Sendable {
  case bool(Bool)
  case int64(Int64)
  case double(Double)
  case string(String)
  case date(Date)
  case data(Data)
  case array([PropertyListValue])
  case dictionary([String: PropertyListValue])
  /// The number of an object of a keyed archive. Other lists have none.
  case reference(Int)
}

import EntityModel
import EntityStore
import FeedDocuments
import Foundation

/// An entity with local attributes and their validators.
struct UserTarget {
  let feed: FeedTarget
  /// The validators by position.
  private let validators: [AttributeValidator]

  init(_ feed: FeedTarget) throws {
    self.feed = feed
    validators = try feed.entity.description.attributes.map { try AttributeValidator($0) }
  }

  /// Returns the value converted to the attribute; nil if it is not allowed. Null gives the default
  /// if the attribute is not optional.
  func fit(_ value: Value, at position: Int) -> Value? {
    let shape = feed.shapes[position]
    if value.isNull { return shape.isOptional ? .null : feed.defaults[position] }
    let converted: Value? =
      switch (value, shape.kind) {
      case (.string(let text), .date): DateText.rfc3339(text).map(Value.date)
      case (.int64(let number), .double): .double(Double(number))
      default: value.kind == shape.kind ? value : nil
      }
    guard let converted, validators[position].failure(of: converted) == nil else { return nil }
    return converted
  }

  /// Returns the value of a field converted to the attribute; nil if it is not allowed, or cannot
  /// be represented.
  func value(of entry: FieldEntry, in fields: FieldEntries, at position: Int) -> Value? {
    // The text of a date is read in place.
    guard entry.kind == .text, feed.shapes[position].kind == .date else {
      return fields.values.value(entry).unconverted.flatMap { fit($0, at: position) }
    }
    guard let date = DateText.rfc3339(fields.text(entry)) else { return nil }
    return validators[position].failure(of: .date(date)) == nil ? .date(date) : nil
  }
}

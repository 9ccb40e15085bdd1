package import EntityModel
import Foundation

/// A test of one value against constants, evaluated on the bytes of a record without creating a
/// value.
package enum AttributeTest {
  case isNull
  case isNotNull
  case int64(OrderTest, Int64)
  /// The order of a double or a date.
  case double(OrderTest, Double)
  /// The order of a text, of data or of a UUID, by its bytes.
  case bytes(OrderTest, [UInt8])
  case text(TextTest)
  case value(OrderTest, Value)
  case int64Within(Set<Int64>, hasNull: Bool)
  case bytesWithin(ByteSet, hasNull: Bool)
  case within(Set<Value>, hasNull: Bool)

  func evaluate(_ row: FetchRow, _ position: Int) throws -> Logic {
    switch row.fields {
    case .record(let view): try evaluate(view.field(position))
    case .values(let values): try evaluate(values[position])
    case .missing: try evaluate(Value.null)
    }
  }

  func evaluate(_ field: RecordField) throws -> Logic {
    if field.isNull { return onNull }
    switch self {
    case .isNull: return .no
    case .isNotNull: return .yes
    case .int64(let test, let constant): return Logic(test.holds(field.int64, constant))
    case .double(let test, let constant): return Logic(test.holds(field.double, constant))
    case .bytes(let test, let constant):
      let bytes = field.slot.kind == .uuid ? field.fixedBytes : try field.bytes()
      return Logic(test.holds(constant.withUnsafeBytes { compare(bytes, $0) }, 0))
    case .text(let test): return try test.evaluate(try field.bytes())
    case .value(let test, let constant):
      return Logic(try field.value().compared(with: constant).map(test.holds) ?? false)
    case .int64Within(let set, let hasNull):
      return set.contains(field.int64) ? .yes : (hasNull ? .unknown : .no)
    case .bytesWithin(let set, let hasNull):
      let bytes = field.slot.kind == .uuid ? field.fixedBytes : try field.bytes()
      return set.contains(bytes) ? .yes : (hasNull ? .unknown : .no)
    case .within(let set, let hasNull):
      return set.contains(try field.value()) ? .yes : (hasNull ? .unknown : .no)
    }
  }

  /// Evaluates the test on the bytes of a text, such as an element of a list.
  func evaluate(text bytes: UnsafeRawBufferPointer) throws -> Logic {
    switch self {
    case .isNull: .no
    case .isNotNull: .yes
    case .bytes(let test, let constant):
      Logic(test.holds(constant.withUnsafeBytes { compare(bytes, $0) }, 0))
    case .text(let test): try test.evaluate(bytes)
    case .bytesWithin(let set, let hasNull):
      set.contains(bytes) ? .yes : (hasNull ? .unknown : .no)
    case .int64, .double, .value, .int64Within, .within: .no
    }
  }

  func evaluate(_ value: Value) throws -> Logic {
    if value.isNull { return onNull }
    switch (self, value) {
    case (.isNull, _): return .no
    case (.isNotNull, _): return .yes
    case (.int64(let test, let constant), .int64(let number)):
      return Logic(test.holds(number, constant))
    case (.double(let test, let constant), .double(let number)):
      return Logic(test.holds(number, constant))
    case (.double(let test, let constant), .date(let date)):
      return Logic(test.holds(date.timeIntervalSinceReferenceDate, constant))
    case (.bytes(let test, let constant), _):
      return value.withBytes { bytes in
        Logic(test.holds(constant.withUnsafeBytes { compare(bytes, $0) }, 0))
      }
    case (.text(let test), _): return try value.withBytes { try test.evaluate($0) }
    case (.value(let test, let constant), _):
      return Logic(value.compared(with: constant).map(test.holds) ?? false)
    case (.int64Within(let set, let hasNull), .int64(let number)):
      return set.contains(number) ? .yes : (hasNull ? .unknown : .no)
    case (.bytesWithin(let set, let hasNull), _):
      return value.withBytes { set.contains($0) } ? .yes : (hasNull ? .unknown : .no)
    case (.within(let set, let hasNull), _):
      return set.contains(value) ? .yes : (hasNull ? .unknown : .no)
    default: return .no
    }
  }

  private var onNull: Logic {
    switch self {
    case .isNull: .yes
    case .isNotNull: .no
    default: .unknown
    }
  }
}

extension Value {
  /// Calls the closure with the bytes of a text, of data or of a UUID; with none for other kinds.
  package func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    switch self {
    case .string(var text):
      return try text.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
    case .url(let url):
      var text = url.absoluteString
      return try text.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
    case .data(let data): return try Array(data).withUnsafeBytes(body)
    case .uuid(let uuid): return try withUnsafeBytes(of: uuid.uuid, body)
    default: return try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
  }
}

/// A set of byte strings that is searched without creating one.
package struct ByteSet {
  /// The elements in ascending order of their bytes, without duplicates.
  let elements: [[UInt8]]

  init(_ elements: some Sequence<[UInt8]>) {
    self.elements = Set(elements).sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Returns true if the set contains the bytes.
  ///
  /// - Complexity: O(log *n*) comparisons; allocates nothing.
  func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var low = 0
    var high = elements.count
    while low < high {
      let middle = (low + high) / 2
      let order = elements[middle].withUnsafeBytes { compare(bytes, $0) }
      if order == 0 { return true }
      if order < 0 { high = middle } else { low = middle + 1 }
    }
    return false
  }
}

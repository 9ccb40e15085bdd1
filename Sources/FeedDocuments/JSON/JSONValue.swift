import CMooringJSON
import Glibc
import TextFormats

/// A value of a document, valid only inside the closure that it was lent to.
///
/// It refers to the parser's buffers: reading members allocates nothing, except for a `String`.
package struct JSONValue {
  fileprivate let node: UnsafePointer<mooring_json_node>

  init(node: UnsafePointer<mooring_json_node>) {
    self.node = node
  }

  package enum Kind {
    case null, bool, int64, double, string, array, object
    /// A number that fits neither an `Int64` nor a finite `Double`.
    case unrepresentable
  }

  package var kind: Kind {
    switch mooring_json_kind(UInt32(node.pointee.kind)) {
    case MOORING_JSON_NULL: .null
    case MOORING_JSON_FALSE, MOORING_JSON_TRUE: .bool
    case MOORING_JSON_INT64: .int64
    case MOORING_JSON_DOUBLE: .double
    case MOORING_JSON_STRING_VALUE: .string
    case MOORING_JSON_ARRAY: .array
    case MOORING_JSON_OBJECT: .object
    default: .unrepresentable
    }
  }

  package var isNull: Bool { kind == .null }

  package var bool: Bool? {
    kind == .bool ? UInt32(node.pointee.kind) == MOORING_JSON_TRUE.rawValue : nil
  }

  /// The integer, if the number is written without fraction and exponent.
  package var int64: Int64? { kind == .int64 ? node.pointee.number.int64 : nil }

  /// The nearest double, if the number is written with a fraction or an exponent.
  package var double: Double? { kind == .double ? node.pointee.number.float64 : nil }

  package var string: String? { kind == .string ? text : nil }

  /// The content of a string, or the text of any other value as written in the document.
  package var text: String {
    let bytes = textBytes
    // SAFETY: the reader has checked that the bytes are UTF-8, and they live as the value does.
    let span = Span<UInt8>(_unsafeBytes: bytes)
    return String(copying: UTF8Span(unchecked: span, isKnownASCII: bytes.isASCII))
  }

  /// The bytes of `text` in UTF-8, in place. They include NUL if the document has `\u0000`.
  package var textBytes: UnsafeRawBufferPointer {
    // SAFETY: the reader set `length` bytes of valid UTF-8 at `text`, which live as the value does.
    UnsafeRawBufferPointer(start: node.pointee.text, count: Int(node.pointee.length))
  }

  /// The value of that member of an object; nil for other values. If a name occurs twice, the last
  /// one wins, as in the parsers of JavaScript and Foundation. O(members).
  package subscript(name: StaticString) -> JSONValue? {
    guard kind == .object else { return nil }
    let key = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    return mooring_json_find(node, key, name.utf8CodeUnitCount).map(JSONValue.init(node:))
  }

  /// Returns the member whose name has these bytes in UTF-8; the last one if the name occurs twice.
  /// O(members).
  package func member(named name: UnsafeRawBufferPointer) -> (name: JSONValue, value: JSONValue)? {
    guard kind == .object else { return nil }
    // Nothing is read if `name` is empty, so any address will do.
    let key = name.baseAddress ?? UnsafeRawPointer(node)
    let characters = key.assumingMemoryBound(to: CChar.self)
    guard let found = mooring_json_find(node, characters, name.count) else { return nil }
    // SAFETY: an object's children are names and values by turns, and a name is one node.
    return (JSONValue(node: found - 1), JSONValue(node: found))
  }

  /// The elements of an array; empty for other kinds.
  package var elements: JSONChildren { JSONChildren(of: self, count: kind == .array ? count : 0) }

  /// The members of an object, in document order, repeated names included; empty for others.
  package var members: JSONMembers {
    JSONMembers(children: JSONChildren(of: self, count: kind == .object ? count * 2 : 0))
  }

  /// The number of elements of an array or members of an object.
  package var count: Int { Int(node.pointee.count) }

  package func hasText(_ other: StaticString) -> Bool {
    // SAFETY: both have the compared number of bytes.
    node.pointee.length == UInt32(other.utf8CodeUnitCount)
      && memcmp(node.pointee.text, other.utf8Start, other.utf8CodeUnitCount) == 0
  }
}

/// The child nodes of a container, in document order.
package struct JSONChildren: Sequence, IteratorProtocol {
  private var upcoming: UnsafePointer<mooring_json_node>
  private var remaining: Int

  fileprivate init(of container: JSONValue, count: Int) {
    upcoming = container.node + 1
    remaining = count
  }

  package mutating func next() -> JSONValue? {
    guard remaining > 0 else { return nil }
    remaining -= 1
    defer {
      // SAFETY: `stride` leads to the next sibling, or to one past the container's nodes, which
      // is never read because `remaining` counts the children.
      upcoming += Int(upcoming.pointee.stride)
    }
    return JSONValue(node: upcoming)
  }
}

/// The members of an object in document order.
package struct JSONMembers: Sequence, IteratorProtocol {
  fileprivate var children: JSONChildren

  package mutating func next() -> (name: JSONValue, value: JSONValue)? {
    guard let name = children.next(), let value = children.next() else { return nil }
    return (name, value)
  }
}

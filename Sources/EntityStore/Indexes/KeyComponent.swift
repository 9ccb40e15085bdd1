import EntityModel
import Foundation

/// One component of an index key, in the format of `KeyWriter`, for values that do not come from a
/// record: ascending, and never cut, whatever its length.
///
/// The bytes of components compare as the values do, and no component is a prefix of another.
enum KeyComponent {
  static let null: [UInt8] = [KeyWriter.null]
  /// The range of all values that are not null.
  static let values = (lower: [KeyWriter.present], upper: [KeyWriter.present + 1])

  /// Returns the component of a value.
  ///
  /// - Parameter value: Any value but a list; each element of a list has its own component.
  static func bytes(of value: Value) -> [UInt8] {
    switch value {
    case .null: return null
    case .string, .url, .data: return value.withBytes { self.bytes(ofText: $0) }
    case .int64, .double, .decimal, .bool, .date, .uuid, .strings:
      var writer = KeyWriter()
      writer.append(value, descending: false, room: 0, hashesCuts: false)
      return Array(writer.bytes)
    }
  }

  /// Returns the component of a text, given its bytes in the form that the key contains.
  static func bytes(ofText bytes: UnsafeRawBufferPointer) -> [UInt8] {
    prefix(ofText: bytes) + [0, 1]
  }

  /// Returns the bytes that are a prefix of the component of every text that begins with these
  /// bytes.
  static func prefix(ofText bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var text = [KeyWriter.present]
    text.reserveCapacity(bytes.count + 3)
    for byte in bytes {
      text.append(byte)
      if byte == 0 { text.append(0xff) }
    }
    return text
  }
}

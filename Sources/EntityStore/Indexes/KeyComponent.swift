import EntityModel
import Foundation

/// One component of an index key as `KeyWriter` draws it, for values that stand alone: ascending,
/// and never cut, however long.
///
/// The bytes of components compare as the values do, and none is the beginning of another one.
enum KeyComponent {
  static let null: [UInt8] = [KeyWriter.null]
  /// Where the values that are not null begin and end.
  static let values = (lower: [KeyWriter.present], upper: [KeyWriter.present + 1])

  /// - Parameter value: Not a list, of which each element has a component.
  static func bytes(of value: Value) -> [UInt8] {
    switch value {
    case .null: return null
    case .string, .url, .data: return value.withBytes { text($0) + [0, 1] }
    case .int64, .double, .decimal, .bool, .date, .uuid, .strings:
      var writer = KeyWriter()
      writer.append(value, descending: false, room: 0, hashesCuts: false)
      return Array(writer.bytes)
    }
  }

  /// The component of a text whose bytes are given, in the form that the key has.
  static func bytes(ofText bytes: UnsafeRawBufferPointer) -> [UInt8] { text(bytes) + [0, 1] }

  /// What the components of all texts begin with that begin with these bytes.
  static func prefix(ofText bytes: UnsafeRawBufferPointer) -> [UInt8] { text(bytes) }

  private static func text(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var text = [KeyWriter.present]
    text.reserveCapacity(bytes.count + 3)
    for byte in bytes {
      text.append(byte)
      if byte == 0 { text.append(0xff) }
    }
    return text
  }
}

import EntityModel
import Foundation

/// Writes records in the current layout (the bytes are drawn at `RecordGeometry`).
enum RecordEncoder {
  /// - Parameter values: By attribute position, each null or of its slot's kind.
  /// - Parameter positions: From attribute id to position.
  static func encode(
    _ values: [Value], version: Int, shape: RecordShape, positions: [Int: Int]
  ) -> [UInt8] {
    let order = shape.slots.map { positions[$0.attributeID] }
    var bytes: [UInt8] = []
    encode(
      values, version: version, shape: shape, geometry: RecordGeometry(shape), order: order,
      into: &bytes)
    return bytes
  }

  /// - Parameter order: Per slot the position of its value; `nil` for a dropped attribute.
  static func encode(
    _ values: [Value], version: Int, shape: RecordShape, geometry: RecordGeometry, order: [Int?],
    into bytes: inout [UInt8]
  ) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: repeatElement(0, count: geometry.fixedBytes))
    store(UInt16(version), in: &bytes, at: 0)
    for (number, slot) in shape.slots.enumerated() {
      let value = order[number].map { values[$0] } ?? .null
      if value.isNull { bytes[2 + number / 8] |= 1 << UInt8(number % 8) }
      let offset = geometry.offsets[number]
      if slot.kind.fixedBytes != nil {
        storeFixed(value, in: &bytes, at: offset)
      } else {
        appendVariable(value, to: &bytes)
        store(UInt32(bytes.count), in: &bytes, at: offset)
      }
    }
  }

  private static func storeFixed(_ value: Value, in bytes: inout [UInt8], at offset: Int) {
    switch value {
    case .int64(let number): store(UInt64(bitPattern: number), in: &bytes, at: offset)
    case .double(let number): store(number.bitPattern, in: &bytes, at: offset)
    case .date(let date):
      store(date.timeIntervalSinceReferenceDate.bitPattern, in: &bytes, at: offset)
    case .bool(let flag): bytes[offset] = flag ? 1 : 0
    case .uuid(let uuid):
      withUnsafeBytes(of: uuid.uuid) { bytes.replaceSubrange(offset..<offset + 16, with: $0) }
    default: break
    }
  }

  private static func appendVariable(_ value: Value, to bytes: inout [UInt8]) {
    switch value {
    case .string(let text): append(text, to: &bytes)
    case .url(let url): append(url.absoluteString, to: &bytes)
    case .data(let data): data.withUnsafeBytes { bytes.append(contentsOf: $0) }
    case .decimal(let decimal): DecimalBytes.append(decimal, to: &bytes)
    case .strings(let list):
      for element in list {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: 4))
        append(element, to: &bytes)
        store(UInt32(bytes.count - start - 4), in: &bytes, at: start)
      }
    default: break
    }
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    // A native string lends its UTF-8 as one run; `append` of the view would go byte by byte.
    var text = text
    text.withUTF8 { bytes.append(contentsOf: $0) }
  }

  private static func store<T: FixedWidthInteger>(
    _ number: T, in bytes: inout [UInt8], at offset: Int
  ) {
    bytes.withUnsafeMutableBytes {
      $0.storeBytes(of: number.littleEndian, toByteOffset: offset, as: T.self)
    }
  }
}

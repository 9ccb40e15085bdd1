import EntityStore
import Foundation

@testable import EntityObjects

/// Writes binary property lists, references of archives included, which Foundation does not.
enum PropertyListWriter {
  static func bytes(of value: PropertyListValue) -> [UInt8] {
    var objects: [[UInt8]] = []
    add(value, to: &objects)
    var bytes = Array("bplist00".utf8)
    var table: [UInt8] = []
    for object in objects {
      table += bigEndian(UInt64(bytes.count), 4)
      bytes += object
    }
    let trailer = [0, 0, 0, 0, 0, 0, 4, 4] + bigEndian(UInt64(objects.count), 8) + bigEndian(0, 8)
    return bytes + table + trailer + bigEndian(UInt64(bytes.count), 8)
  }

  @discardableResult
  private static func add(_ value: PropertyListValue, to objects: inout [[UInt8]]) -> Int {
    let number = objects.count
    objects.append([])
    func numbers(_ values: [PropertyListValue]) -> [UInt8] {
      values.flatMap { bigEndian(UInt64(add($0, to: &objects)), 4) }
    }
    let object: [UInt8]
    switch value {
    case .bool(let flag): object = [flag ? 0x09 : 0x08]
    case .int64(let number): object = [0x13] + bigEndian(UInt64(bitPattern: number), 8)
    case .double(let number): object = [0x23] + bigEndian(number.bitPattern, 8)
    case .date(let date):
      object = [0x33] + bigEndian(date.timeIntervalSinceReferenceDate.bitPattern, 8)
    case .data(let data): object = head(0x4, data.count) + data
    case .string(let text) where text.utf8.allSatisfy({ $0 < 0x80 }):
      object = head(0x5, text.utf8.count) + text.utf8
    case .string(let text):
      object = head(0x6, text.utf16.count) + text.utf16.flatMap { bigEndian(UInt64($0), 2) }
    case .reference(let number): object = [0x83] + bigEndian(UInt64(number), 4)
    case .array(let elements): object = head(0xA, elements.count) + numbers(elements)
    case .dictionary(let entries):
      let sorted = entries.sorted { $0.key < $1.key }
      object =
        head(0xD, sorted.count) + numbers(sorted.map { .string($0.key) })
        + numbers(sorted.map(\.value))
    }
    objects[number] = object
    return number
  }

  private static func head(_ type: UInt8, _ count: Int) -> [UInt8] {
    count < 15
      ? [type << 4 | UInt8(count)] : [type << 4 | 0xF, 0x12] + bigEndian(UInt64(count), 4)
  }

  private static func bigEndian(_ number: UInt64, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64($0 * 8)) }
  }
}

/// Writes archives in the format of NSKeyedArchiver, including invalid ones.
struct ArchiveWriter {
  private var objects: [PropertyListValue] = [.string("$null")]
  private var classes: [String: PropertyListValue] = [:]

  static let null = PropertyListValue.reference(0)

  mutating func add(_ value: PropertyListValue) -> PropertyListValue {
    objects.append(value)
    return .reference(objects.count - 1)
  }

  mutating func add(
    _ className: String, _ fields: [String: PropertyListValue]
  ) -> PropertyListValue {
    var fields = fields
    fields["$class"] = classReference(className)
    return add(.dictionary(fields))
  }

  /// An object whose fields are set later, so that others can refer to it before.
  mutating func reserve() -> PropertyListValue { add(.bool(false)) }

  mutating func fill(
    _ place: PropertyListValue, _ className: String, _ fields: [String: PropertyListValue]
  ) {
    guard case .reference(let number) = place else { return }
    var fields = fields
    fields["$class"] = classReference(className)
    objects[number] = .dictionary(fields)
  }

  mutating func array(
    _ elements: [PropertyListValue], of className: String = "NSArray"
  ) -> PropertyListValue {
    add(className, ["NS.objects": .array(elements)])
  }

  mutating func dictionary(
    _ entries: [(String, PropertyListValue)], of className: String = "NSDictionary"
  ) -> PropertyListValue {
    let keys = entries.map { add(.string($0.0)) }
    return add(className, ["NS.keys": .array(keys), "NS.objects": .array(entries.map(\.1))])
  }

  func bytes(root: PropertyListValue) -> [UInt8] {
    PropertyListWriter.bytes(
      of: .dictionary([
        "$archiver": .string("NSKeyedArchiver"), "$version": .int64(100_000),
        "$top": .dictionary(["root": root]), "$objects": .array(objects),
      ]))
  }

  private mutating func classReference(_ name: String) -> PropertyListValue {
    if let known = classes[name] { return known }
    let made = add(
      .dictionary([
        "$classname": .string(name), "$classes": .array([.string(name), .string("NSObject")]),
      ]))
    classes[name] = made
    return made
  }
}

/// DEFLATE that compresses nothing.
enum StoredDeflate {
  static func bytes(of content: [UInt8]) -> [UInt8] {
    var rest = content[...]
    var bytes: [UInt8] = []
    repeat {
      let block = rest.prefix(0xFFFF)
      rest = rest.dropFirst(block.count)
      let (low, high) = (UInt8(block.count & 0xFF), UInt8(block.count >> 8))
      bytes += [rest.isEmpty ? 1 : 0, low, high, ~low, ~high]
      bytes += block
    } while !rest.isEmpty
    return bytes
  }
}

package import Foundation

/// Reads a binary property list. Foundation for Linux reads them too, but a damaged list can end
/// the process, and a list of some hundred bytes can take more memory than there is.
///
/// ```
/// "bplist00" | objects | table: the offset of each object | trailer of 32 bytes:
///   6 unused, size of an offset, size of a reference,
///   number of objects (8), number of the root (8), offset of the table (8)
/// object: marker, whose high half is the type and whose low half the size (15: an integer object
///   follows that has it), then the bytes of the value; of an array its references, of a dictionary
///   those of its keys and then those of its values
/// ```
///
/// All numbers have the most significant byte first.
package struct BinaryPropertyList {
  private static let header = Array("bplist00".utf8)
  private static let trailerBytes = 32
  private static let nestingMax = 64

  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  private let objectsTotal: Int
  private let table: Int
  private let root: Int
  private let allowsReferences: Bool
  /// The number of bytes that may still be read. Parts of an undamaged list do not overlap, so that
  /// together they are no longer than the list.
  private var bytesLeft: Int
  /// The texts and numbers that were read. They may be referenced several times; each is read once.
  private var scalars: [Int: PropertyListValue] = [:]
  private var containers: Set<Int> = []

  /// Reads a list.
  ///
  /// - Parameter allowsReferences: True if it may be a keyed archive, whose objects reference each
  ///   other.
  /// - Returns: `nil` for data that is no binary property list.
  /// - Throws: `Damage`.
  /// - Complexity: O(size of the list) in time and memory, whatever its content.
  package static func content(
    of bytes: [UInt8], allowsReferences: Bool = false
  ) throws(Damage) -> PropertyListValue? {
    guard bytes.starts(with: header) else { return nil }
    var list = try BinaryPropertyList(bytes, allowsReferences: allowsReferences)
    return try list.object(list.root, depth: 1)
  }

  package struct Damage: Error {
    package let text: String
  }

  private init(_ bytes: [UInt8], allowsReferences: Bool) throws(Damage) {
    let trailer = bytes.count - Self.trailerBytes
    guard trailer >= Self.header.count else { throw Damage(text: "the end is missing") }
    self.bytes = bytes
    self.allowsReferences = allowsReferences
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    bytesLeft = bytes.count
    objectsTotal = try bytes.place(at: trailer + 8, size: 8)
    root = try bytes.place(at: trailer + 16, size: 8)
    table = try bytes.place(at: trailer + 24, size: 8)
  }

  private mutating func object(_ number: Int, depth: Int) throws(Damage) -> PropertyListValue {
    if let known = scalars[number] { return known }
    guard number < objectsTotal else { throw .cut }
    let start = try bytes.place(at: table + number * offsetSize, size: offsetSize)
    let marker = try bytes.place(at: start, size: 1)
    let content: PropertyListValue
    switch (marker >> 4, marker & 0xF) {
    case (0x0, 8): content = .bool(false)
    case (0x0, 9): content = .bool(true)
    case (0x1, 0...3):
      // An integer of 8 bytes has a sign, shorter ones do not.
      content = .int64(Int64(bitPattern: try word(start + 1, 1 << (marker & 0xF))))
    case (0x1, _): throw Damage(text: "an integer does not fit 64 bits")
    case (0x2, 2): content = .double(Double(Float(bitPattern: UInt32(try word(start + 1, 4)))))
    case (0x2, 3): content = .double(Double(bitPattern: try word(start + 1, 8)))
    case (0x3, 3):
      let seconds = Double(bitPattern: try word(start + 1, 8))
      content = .date(Date(timeIntervalSinceReferenceDate: seconds))
    case (0x4, _): content = .data(Data(try value(at: start)))
    case (0x5, _): content = try text(String(validating: try value(at: start), as: UTF8.self))
    case (0x6, _):
      let value = try value(at: start, unit: 2)
      let units = stride(from: value.startIndex, to: value.endIndex, by: 2).map {
        UInt16(value[$0]) << 8 | UInt16(value[$0 + 1])
      }
      content = try text(String(validating: units, as: UTF16.self))
    case (0x8, let size) where allowsReferences:
      guard let number = Int(exactly: try word(start + 1, size + 1)) else { throw .cut }
      content = .reference(number)
    case (0xA, _): return .array(try elements(at: start, number, depth))
    case (0xD, _): return try dictionary(at: start, number, depth)
    default: throw Damage(text: "it holds a value of a kind that no attribute has")
    }
    scalars[number] = content
    return content
  }

  // MARK: Scalars

  private func text(_ text: String?) throws(Damage) -> PropertyListValue {
    guard let text else { throw Damage(text: "a text is not valid Unicode") }
    return .string(text)
  }

  private func word(_ start: Int, _ size: Int) throws(Damage) -> UInt64 {
    try bytes.word(at: start, size: size)
  }

  /// Returns the bytes of an object of variable size.
  ///
  /// - Parameter unit: The number of bytes of one unit of the object's size.
  private mutating func value(at start: Int, unit: Int = 1) throws(Damage) -> ArraySlice<UInt8> {
    let (first, count) = try extent(at: start)
    let length = count * unit
    try take(length)
    guard first <= bytes.count - length else { throw .cut }
    return bytes[first..<first + length]
  }

  private func extent(at start: Int) throws(Damage) -> (first: Int, count: Int) {
    let count = try bytes.place(at: start, size: 1) & 0xF
    guard count == 0xF else { return (start + 1, count) }
    let marker = try bytes.place(at: start + 1, size: 1)
    guard (0x10...0x13).contains(marker) else { throw Damage(text: "a size is not an integer") }
    let size = 1 << (marker & 0xF)
    return (start + 2 + size, try bytes.place(at: start + 2, size: size))
  }

  private mutating func take(_ length: Int) throws(Damage) {
    bytesLeft -= length
    if bytesLeft < 0 { throw Damage(text: "its parts overlap") }
  }

  // MARK: Containers

  private mutating func elements(
    at start: Int, _ number: Int, _ depth: Int
  ) throws(Damage) -> [PropertyListValue] {
    let (first, count) = try enter(number, at: start, depth)
    return try objects(count, at: first, depth)
  }

  private mutating func dictionary(
    at start: Int, _ number: Int, _ depth: Int
  ) throws(Damage) -> PropertyListValue {
    let (first, count) = try enter(number, at: start, depth)
    let keys = try objects(count, at: first, depth)
    let values = try objects(count, at: first + count * referenceSize, depth)
    var entries: [String: PropertyListValue] = [:]
    for (key, value) in zip(keys, values) {
      guard case .string(let key) = key else { throw Damage(text: "a key is not a string") }
      guard entries.updateValue(value, forKey: key) == nil else {
        throw Damage(text: "the key \"\(key)\" occurs twice in a dictionary")
      }
    }
    return .dictionary(entries)
  }

  /// Registers a container. Each may be referenced only once: it would be copied for each
  /// reference, and may contain itself.
  private mutating func enter(
    _ number: Int, at start: Int, _ depth: Int
  ) throws(Damage) -> (first: Int, count: Int) {
    guard containers.insert(number).inserted else {
      throw Damage(text: "an array or a dictionary is used in several places; repeat it in each")
    }
    guard depth <= Self.nestingMax else {
      throw Damage(text: "it is nested deeper than \(Self.nestingMax)")
    }
    return try extent(at: start)
  }

  private mutating func objects(
    _ count: Int, at first: Int, _ depth: Int
  ) throws(Damage) -> [PropertyListValue] {
    try take(count)
    var objects: [PropertyListValue] = []
    for index in 0..<count {
      let number = try bytes.place(at: first + index * referenceSize, size: referenceSize)
      objects.append(try object(number, depth: depth + 1))
    }
    return objects
  }
}

extension BinaryPropertyList.Damage {
  fileprivate static var cut: Self { .init(text: "a part lies beyond its end") }
}

extension [UInt8] {
  fileprivate func word(
    at start: Int, size: Int
  ) throws(BinaryPropertyList.Damage) -> UInt64 {
    guard (1...8).contains(size), start >= 0, start <= count - size else { throw .cut }
    return self[start..<start + size].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Reads an offset, a number or a size, none of which may exceed the number of bytes.
  fileprivate func place(
    at start: Int, size: Int
  ) throws(BinaryPropertyList.Damage) -> Int {
    guard let place = Int(exactly: try word(at: start, size: size)), place <= Swift.max(count, 0xFF)
    else { throw .cut }
    return place
  }
}

/// A value of a property list.
package enum PropertyListValue: Hashable, Sendable {
  case bool(Bool)
  case int64(Int64)
  case double(Double)
  case string(String)
  case date(Date)
  case data(Data)
  case array([PropertyListValue])
  case dictionary([String: PropertyListValue])
  /// The number of an object of a keyed archive. Other lists have no references.
  case reference(Int)
}

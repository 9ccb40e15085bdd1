import EntityModel
import EntityObjects
import EntityStore
import Foundation

/// The value of an archive of Foundation's classes, without the classes.
indirect enum ArchivedValue {
  case plain(Value)
  /// The text of a URL, which may be invalid.
  case url(String)
  case list([ArchivedValue])
  /// Elements without an order.
  case set([ArchivedValue])
  case map([String: ArchivedValue])
}

/// Reads an archive from its root. An object may occur in many places and is copied for each, and a
/// few hundred bytes can describe more than any memory holds. Therefore depth, number and bytes are
/// bounded.
struct ArchivedValueReader {
  private static let depthMax = 64
  private static let partsMax = 100_000

  private let archive: KeyedArchive
  /// The classes that are allowed; `nil` for every known class.
  private let allowed: Set<String>?
  private var partsLeft = partsMax
  private var bytesLeft = Limits.cellBytesMax
  /// The classes that have occurred, without `Mutable` in their names.
  private(set) var classNames: Set<String> = []

  init(_ bytes: [UInt8], allowing allowed: Set<String>?) throws(KeyedArchiveFailure) {
    archive = try Self.reading { () throws(ArchiveDamage) in try KeyedArchive(bytes) }
    self.allowed = allowed.map { Set($0.map(Self.immutable)) }
  }

  mutating func value() throws(KeyedArchiveFailure) -> ArchivedValue {
    let archive = archive
    return try value(Self.reading { () throws(ArchiveDamage) in try archive.root() }, depth: 1)
  }

  private mutating func value(
    _ item: KeyedArchive.Item, depth: Int
  ) throws(KeyedArchiveFailure) -> ArchivedValue {
    partsLeft -= 1
    guard depth <= Self.depthMax, partsLeft >= 0 else {
      throw .damaged("it is nested too deeply, or has too many parts")
    }
    switch item {
    case .null: return .plain(.null)
    case .value(let value): return .plain(try plain(value))
    case .object(let object): return try self.object(object, depth)
    }
  }

  /// Returns a value that Foundation writes without an object.
  private mutating func plain(_ value: PropertyListValue) throws(KeyedArchiveFailure) -> Value {
    switch value {
    case .bool(let flag):
      try meet("NSNumber")
      return .bool(flag)
    case .int64(let number):
      try meet("NSNumber")
      return .int64(number)
    case .double(let number):
      try meet("NSNumber")
      return .double(number)
    case .string(let text):
      try meet("NSString")
      return .string(try take(text))
    case .date(let date):
      try meet("NSDate")
      return .date(date)
    case .data(let data):
      try meet("NSData")
      return .data(try take(data))
    case .array, .dictionary, .reference: throw .damaged("a value is of no class")
    }
  }

  private mutating func object(
    _ object: KeyedArchive.Object, _ depth: Int
  ) throws(KeyedArchiveFailure) -> ArchivedValue {
    let name = Self.immutable(object.className)
    try meet(name)
    let archive = archive
    func item(_ key: String) throws(KeyedArchiveFailure) -> KeyedArchive.Item {
      try Self.reading { () throws(ArchiveDamage) in try archive.item(object.fields[key]) }
    }
    switch name {
    case "NSNull": return .plain(.null)
    case "NSString":
      let text = try Self.reading { () throws(ArchiveDamage) in try archive.string(of: object) }
      return .plain(.string(try take(text)))
    case "NSNumber":
      for key in ["NS.boolval", "NS.intval", "NS.dblval"] {
        if case .value(let number) = try item(key) { return .plain(try plain(number)) }
      }
    case "NSDate":
      switch try item("NS.time") {
      case .value(.double(let seconds)):
        return .plain(.date(Date(timeIntervalSinceReferenceDate: seconds)))
      case .value(.int64(let seconds)):
        return .plain(.date(Date(timeIntervalSinceReferenceDate: Double(seconds))))
      default: break
      }
    case "NSData":
      if case .value(.data(let data)) = try item("NS.data") {
        return .plain(.data(try take(data)))
      }
    case "NSUUID":
      if case .value(.data(let data)) = try item("NS.uuidbytes"), let uuid = UUID(bytes: data) {
        return .plain(.uuid(uuid))
      }
    case "NSURL":
      let (base, relative) = try Self.reading { () throws(ArchiveDamage) in
        (
          try archive.string(object.fields["NS.base"]),
          try archive.string(object.fields["NS.relative"])
        )
      }
      if let relative {
        let text = base.flatMap { URL(string: relative, relativeTo: URL(string: $0)) }
        return .url(try take(text?.absoluteString ?? relative))
      }
    case "NSArray", "NSOrderedSet": return .list(try list(object, depth))
    case "NSSet": return .set(try list(object, depth))
    case "NSDictionary": return .map(try map(object, depth))
    default: throw .unknownClass(object.className)
    }
    throw .damaged("an object of the class \(name) has not what it should")
  }

  private mutating func list(
    _ object: KeyedArchive.Object, _ depth: Int
  ) throws(KeyedArchiveFailure) -> [ArchivedValue] {
    let archive = archive
    let fields = try Self.reading { () throws(ArchiveDamage) in try archive.elements(of: object) }
    var values: [ArchivedValue] = []
    for field in fields {
      let item = try Self.reading { () throws(ArchiveDamage) in try archive.item(field) }
      values.append(try value(item, depth: depth + 1))
    }
    return values
  }

  private mutating func map(
    _ object: KeyedArchive.Object, _ depth: Int
  ) throws(KeyedArchiveFailure) -> [String: ArchivedValue] {
    let archive = archive
    let entries = try Self.reading { () throws(ArchiveDamage) in try archive.entries(of: object) }
    var values: [String: ArchivedValue] = [:]
    for (key, field) in entries {
      try meet("NSString")
      let item = try Self.reading { () throws(ArchiveDamage) in try archive.item(field) }
      let value = try value(item, depth: depth + 1)
      guard values.updateValue(value, forKey: try take(key)) == nil else {
        throw .damaged("a key occurs twice in a dictionary")
      }
    }
    return values
  }

  // MARK: Bounds

  private mutating func meet(_ className: String) throws(KeyedArchiveFailure) {
    if let allowed, !allowed.contains(className) { throw .classNotAllowed(className) }
    classNames.insert(className)
  }

  private mutating func take(_ text: String) throws(KeyedArchiveFailure) -> String {
    try take(bytes: text.utf8.count)
    return text
  }

  private mutating func take(_ data: Data) throws(KeyedArchiveFailure) -> Data {
    try take(bytes: data.count)
    return data
  }

  private mutating func take(bytes: Int) throws(KeyedArchiveFailure) {
    bytesLeft -= bytes
    if bytesLeft < 0 { throw .damaged("it is longer than \(Limits.cellBytesMax) bytes") }
  }

  private static func immutable(_ className: String) -> String {
    className.hasPrefix("NSMutable") ? "NS" + className.dropFirst("NSMutable".count) : className
  }

  private static func reading<R>(
    _ body: () throws(ArchiveDamage) -> R
  ) throws(KeyedArchiveFailure) -> R {
    do {
      return try body()
    } catch {
      throw .damaged(error.text)
    }
  }
}

extension UUID {
  fileprivate init?(bytes: Data) {
    guard bytes.count == 16 else { return nil }
    var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
    self.init(uuid: uuid)
  }
}

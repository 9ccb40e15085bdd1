import EntityObjects
import EntityStore
import Foundation

/// An archive of NSKeyedArchiver, which is a property list:
///
/// ```
/// { "$archiver": "NSKeyedArchiver", "$top": { "root": → }, "$objects": ["$null", …] }
/// ```
///
/// An arrow is the number of an object. An object is a plain value, or a dictionary of its fields
/// with an arrow to its class: `{ "$class": →, "NS.string": "…" }`. Objects may form cycles, so
/// that a reader follows one arrow at a time.
struct KeyedArchive: Sendable {
  enum Item: Sendable {
    case null
    case value(PropertyListValue)
    case object(Object)
  }

  struct Object: Sendable {
    let className: String
    let fields: [String: PropertyListValue]
  }

  private static let classKey = "$class"

  private let objects: [PropertyListValue]
  private let top: PropertyListValue

  init(_ bytes: [UInt8]) throws(ArchiveDamage) {
    let content: PropertyListValue?
    do throws(BinaryPropertyList.Damage) {
      content = try BinaryPropertyList.content(of: bytes, allowsReferences: true)
    } catch {
      throw ArchiveDamage("it is no sound property list: \(error.text)")
    }
    guard let content else { throw ArchiveDamage("it is no binary property list") }
    guard case .dictionary(let list) = content, case .array(let objects)? = list["$objects"],
      case .dictionary(let top)? = list["$top"], let root = top["root"]
    else { throw ArchiveDamage("it is a property list, but no keyed archive") }
    self.objects = objects
    self.top = root
  }

  func root() throws(ArchiveDamage) -> Item { try item(top) }

  /// Returns the value of a field, or the object that its arrow leads to.
  func item(_ field: PropertyListValue?) throws(ArchiveDamage) -> Item {
    guard let field else { return .null }
    guard case .reference(let number) = field else { return .value(field) }
    guard number != 0 else { return .null }
    guard objects.indices.contains(number) else {
      throw ArchiveDamage("a reference points beyond its objects")
    }
    switch objects[number] {
    case .reference: throw ArchiveDamage("a reference points to a reference")
    case .dictionary(let fields):
      guard let type = fields[Self.classKey] else { return .value(objects[number]) }
      return .object(Object(className: try className(type), fields: fields))
    case let value: return .value(value)
    }
  }

  private func className(_ field: PropertyListValue) throws(ArchiveDamage) -> String {
    guard case .reference(let number) = field, objects.indices.contains(number),
      case .dictionary(let description) = objects[number],
      case .string(let name)? = description["$classname"]
    else { throw ArchiveDamage("an object has no class") }
    return name
  }
}

/// The fields of Foundation's classes.
extension KeyedArchive {
  func object(_ field: PropertyListValue?) throws(ArchiveDamage) -> Object? {
    if case .object(let object) = try item(field) { object } else { nil }
  }

  /// - Returns: `nil` for what is no text.
  func string(_ field: PropertyListValue?) throws(ArchiveDamage) -> String? {
    switch try item(field) {
    case .value(.string(let text)): return text
    case .object(let object) where ["NSString", "NSMutableString"].contains(object.className):
      return try string(of: object)
    default: return nil
    }
  }

  func string(of object: Object) throws(ArchiveDamage) -> String {
    switch try item(object.fields["NS.string"] ?? object.fields["NS.bytes"]) {
    case .value(.string(let text)): return text
    case .value(.data(let data)):
      guard let text = String(validating: data, as: UTF8.self) else {
        throw ArchiveDamage("a text is no Unicode")
      }
      return text
    default: throw ArchiveDamage("an NSString has no text")
    }
  }

  /// Returns the elements of an array or a set.
  func elements(of object: Object) throws(ArchiveDamage) -> [PropertyListValue] {
    guard case .array(let elements)? = object.fields["NS.objects"] else {
      throw ArchiveDamage("an \(object.className) has no elements")
    }
    return elements
  }

  /// Returns the entries of a dictionary whose keys are texts, in their order.
  func entries(
    of object: Object
  ) throws(ArchiveDamage) -> [(key: String, value: PropertyListValue)] {
    let (keys, values) =
      object.className.hasPrefix("NSKnownKeysDictionary")
      ? try knownKeys(of: object) : (object.fields["NS.keys"], object.fields["NS.objects"])
    guard case .array(let keys)? = keys, case .array(let values)? = values,
      keys.count == values.count
    else { throw ArchiveDamage("an \(object.className) has not as many keys as values") }
    var entries: [(key: String, value: PropertyListValue)] = []
    for (key, value) in zip(keys, values) {
      guard let key = try string(key) else { throw ArchiveDamage("a key is no text") }
      entries.append((key, value))
    }
    return entries
  }

  /// Returns the keys and values of an NSKnownKeysDictionary, whose keys are in another object that
  /// several may share.
  private func knownKeys(
    of object: Object
  ) throws(ArchiveDamage) -> (PropertyListValue?, PropertyListValue?) {
    guard let mapping = try self.object(object.fields["searchMapping"]) else {
      throw ArchiveDamage("an \(object.className) has no keys")
    }
    return (try list(mapping.fields["keys"]), try list(object.fields["values"]))
  }

  private func list(_ field: PropertyListValue?) throws(ArchiveDamage) -> PropertyListValue? {
    switch try item(field) {
    case .value(let value): value
    case .object(let object): object.fields["NS.objects"]
    case .null: nil
    }
  }
}

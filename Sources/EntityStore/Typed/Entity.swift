public import EntityModel
import Foundation

/// A Swift value type for the records of an entity.
///
/// The catalog is the schema; the type declares which of its attributes it uses. A type may leave
/// attributes out: an insert gives them their defaults, and an update does not change them.
/// `mooring schema --as swift` writes such a type.
///
/// ```swift
/// struct Walk: Entity {
///   var title: String
///   var startedAt: Date?
///
///   static let attributes: [EntityAttribute<Walk>] = [
///     .init("title", \.title), .init("startedAt", \.startedAt),
///   ]
///   init(from record: inout RecordReader) throws {
///     title = try record["title"]
///     startedAt = try record["startedAt"]
///   }
/// }
/// ```
public protocol Entity: Sendable {
  /// The entity's name in the catalog: by default the name of the type.
  static var entityName: String { get }
  static var attributes: [EntityAttribute<Self>] { get }
  /// The relationships of the type; none by default.
  static var relationships: [EntityRelationship<Self>] { get }
  init(from record: inout RecordReader) throws
}

extension Entity {
  public static var entityName: String { String(describing: Self.self) }
  public static var relationships: [EntityRelationship<Self>] { [] }
}

/// A stored property of a typed entity, and its attribute.
public struct EntityAttribute<Root>: Sendable {
  public let name: String
  public let keyPath: any PartialKeyPath<Root> & Sendable
  public let kind: ValueKind
  public let isOptional: Bool
  @usableFromInline let value: @Sendable (UnsafePointer<Root>) -> Value

  // Inlinable, so that the closure is specialized for the types of the caller.
  @inlinable
  public init<T: AttributeValue>(_ name: String, _ keyPath: any KeyPath<Root, T> & Sendable) {
    self.name = name
    self.keyPath = keyPath
    kind = T.kind
    isOptional = T.isOptional
    guard let offset = MemoryLayout<Root>.offset(of: keyPath) else {
      value = { $0.pointee[keyPath: keyPath].value }
      return
    }
    // Reading through the key path takes ten times as long.
    // SAFETY: a property that has an offset is stored there, as a value of its type.
    value = {
      (UnsafeRawPointer($0) + offset).assumingMemoryBound(to: T.self).pointee.value
    }
  }
}

extension Entity {
  /// Returns the name of the attribute of a property.
  ///
  /// - Throws: `invalidRequest` if the property belongs to no attribute.
  @usableFromInline
  package static func attributeName(of keyPath: PartialKeyPath<Self>) throws(StoreError) -> String {
    let property = try property(of: keyPath)
    guard property.isAttribute else { throw .unknownKeyPath(keyPath, of: Self.self) }
    return property.name
  }

  /// Returns the name of the attribute or the relationship of a property.
  ///
  /// - Throws: `invalidRequest` if it belongs to neither.
  @usableFromInline
  package static func propertyName(of keyPath: PartialKeyPath<Self>) throws(StoreError) -> String {
    try property(of: keyPath).name
  }

  private static func property(
    of keyPath: PartialKeyPath<Self>
  ) throws(StoreError) -> PropertyNames.Property {
    if let known = PropertyNames.property(of: keyPath) { return known }
    let attribute = attributes.first { $0.keyPath == keyPath }?.name
    guard let name = attribute ?? relationships.first(where: { $0.keyPath == keyPath })?.name
    else { throw .unknownKeyPath(keyPath, of: Self.self) }
    let found = PropertyNames.Property(name: name, isAttribute: attribute != nil)
    PropertyNames.keep(found, of: keyPath)
    return found
  }

  static var attributeNames: [String] { attributes.map(\.name) }

  static var relationshipNames: [String] { relationships.map(\.name) }

  /// The values of the type's attributes, in their order.
  @inlinable
  package var attributeValues: [Value] {
    // Read in place: a copy of an attribute would retain its closures.
    Self.attributes.withUnsafeBufferPointer { attributes in
      withUnsafePointer(to: self) { entity in
        [Value](unsafeUninitializedCapacity: attributes.count) { values, count in
          while count < attributes.count {
            values.initializeElement(at: count, to: attributes[count].value(entity))
            count += 1
          }
        }
      }
    }
  }

  /// The links of the type's relationships, in their order; `nil` for a to-many relationship.
  @inlinable
  package var linkedObjects: [ObjectID?] { Self.relationships.map { $0.link(self) } }
}

extension StoreError {
  static func unknownKeyPath(_ keyPath: AnyKeyPath, of entity: Any.Type) -> StoreError {
    StoreError(
      .invalidRequest, "a key path does not lead to an attribute",
      [("type", "\(entity)"), ("key path", "\(keyPath)")],
      advice: "use properties that the type lists as attributes or relationships")
  }
}

public import EntityModel
import Foundation

/// A Swift value type for the records of an entity.
///
/// The catalog is the schema; the type says which of its attributes it needs. A type may leave
/// attributes out: an insert gives them their defaults, an update keeps what is stored.
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
  init(from record: inout RecordReader) throws
}

extension Entity {
  public static var entityName: String { String(describing: Self.self) }
}

/// A stored property of a typed entity and the attribute it stands for.
public struct EntityAttribute<Root>: Sendable {
  public let name: String
  public let keyPath: any PartialKeyPath<Root> & Sendable
  public let kind: ValueKind
  public let isOptional: Bool
  @usableFromInline let value: @Sendable (Root) -> Value

  // Inlinable, so that the closure is made where the types are known.
  @inlinable
  public init<T: AttributeValue>(_ name: String, _ keyPath: any KeyPath<Root, T> & Sendable) {
    self.name = name
    self.keyPath = keyPath
    kind = T.kind
    isOptional = T.isOptional
    value = { $0[keyPath: keyPath].value }
  }
}

extension Entity {
  /// - Throws: `invalidRequest` if the property stands for no attribute.
  @usableFromInline
  static func attributeName(of keyPath: PartialKeyPath<Self>) throws -> String {
    guard let attribute = attributes.first(where: { $0.keyPath == keyPath }) else {
      throw StoreError(
        .invalidRequest, "a key path stands for no attribute", [("entity", entityName)],
        advice: "name the property in \(Self.self).attributes")
    }
    return attribute.name
  }

  static var attributeNames: [String] { attributes.map(\.name) }

  /// The values of the type's attributes, in their order.
  @inlinable
  var attributeValues: [Value] { Self.attributes.map { $0.value(self) } }
}

/// Reads the attributes of one record into a Swift value.
///
/// Valid only inside `init(from:)`. Read the attributes in the same order each time: the reader
/// learns the order from the first record and then finds each one without looking it up.
public struct RecordReader {
  let view: RecordView
  let entity: EntityLayout
  private let order: ReadingOrder?
  private var next = 0
  /// Collected while the order is not known yet.
  fileprivate(set) var learned: [ReadingOrder.Step] = []

  init(_ view: RecordView, entity: EntityLayout, order: ReadingOrder?) {
    self.view = view
    self.entity = entity
    self.order = order
  }

  /// The value of an attribute.
  ///
  /// - Throws: `unknownAttribute`, `schemaMismatch`, `damaged`.
  @inlinable
  public subscript<T: AttributeValue>(_ name: StaticString) -> T {
    mutating get throws { try T(reading: try field(name)) }
  }

  @usableFromInline
  mutating func field(_ name: StaticString) throws -> StoredField {
    let position = try position(of: name)
    return StoredField(
      field: view.field(position), position: position, layout: .passUnretained(entity))
  }

  @inline(__always)
  private mutating func position(of name: StaticString) throws -> Int {
    if let order, next < order.steps.count, name.hasPointerRepresentation,
      order.steps[next].name == name.utf8Start
    {
      next += 1
      return order.steps[next - 1].position
    }
    let position = try entity.position(of: "\(name)")
    if name.hasPointerRepresentation {
      learned.append(ReadingOrder.Step(name: name.utf8Start, position: position))
    }
    return position
  }
}

/// Hands records of one entity to one Swift type.
struct EntityDecoder {
  private let type: Any.Type
  private let entity: EntityLayout
  private var order: ReadingOrder?

  init(_ type: Any.Type, entity: EntityLayout) {
    self.type = type
    self.entity = entity
    order = entity.readingOrder(of: type)
  }

  mutating func decode(
    _ view: RecordView, _ body: (inout RecordReader) throws -> Void
  ) throws {
    var reader = RecordReader(view, entity: entity, order: order)
    try body(&reader)
    if order == nil {
      let learned = ReadingOrder(reader.learned)
      entity.keep(learned, for: type)
      order = learned
    }
  }
}

import CMooringXML
import EntityModel

/// Reads the XML in which Xcode keeps a model.
///
/// ```
/// model/entity        name isAbstract parentEntity elementID
///   attribute         name attributeType optional transient derived elementID defaultValueString
///                     defaultDateTimeInterval allowsExternalBinaryDataStorage valueTransformerName
///   relationship      name destinationEntity inverseName toMany maxCount ordered optional
///                     transient deletionRule elementID
///   uniquenessConstraints/uniquenessConstraint/constraint    value
/// ```
///
/// `elementID` is the name in an older version. All other elements say nothing about the file.
enum ModelXML {
  private static let namesMax = 10_000

  /// - Throws: What makes it no model.
  static func model(in bytes: [UInt8]) throws(ArchiveDamage) -> ManagedObjectModel {
    guard let length = Int32(exactly: bytes.count), length > 0 else {
      throw ArchiveDamage("it is empty or too long")
    }
    _ = initialization
    var builder = ModelBuilder()
    var events = mooring_xml_events(
      start: startElement, end: endElement, text: ignoreText, fault: nil)
    let code = withUnsafeMutablePointer(to: &builder) { builder in
      bytes.withUnsafeBytes { bytes in
        // SAFETY: libxml2 copies the bytes and calls back on this thread before it returns; no
        // other code uses the builder until then.
        mooring_xml_read(bytes.baseAddress, length, 0, Int32(namesMax), &events, builder)
      }
    }
    if let problem = builder.problem { throw ArchiveDamage(problem) }
    guard code == MOORING_XML_OK else { throw ArchiveDamage("it is no well-formed XML") }
    guard builder.isModel else { throw ArchiveDamage("its first element is not <model>") }
    return try ManagedObjectModel(
      entities: builder.entities.map { entity in
        var entity = entity
        entity.attributes.sort { $0.name < $1.name }
        entity.relationships.sort { $0.name < $1.name }
        return entity
      })
  }

  /// The initialization of libxml2's tables, which Swift runs once.
  private static let initialization: Void = mooring_xml_initialize()
}

/// Builds the entities from the elements.
private struct ModelBuilder {
  private(set) var entities: [ManagedObjectModel.Entity] = []
  private(set) var isModel = false
  /// The reason why it is no model; the reading stops there.
  private(set) var problem: String?
  /// The open elements.
  private var path: [String] = []
  private var propertiesLeft = ModelLimits.propertiesMax

  mutating func start(_ element: String, _ attributes: [String: String]) -> Bool {
    path.append(element)
    switch path {
    case ["model"]: isModel = true
    case ["model", "entity"]: addEntity(attributes)
    case ["model", "entity", "attribute"]: addAttribute(attributes)
    case ["model", "entity", "relationship"]: addRelationship(attributes)
    case ["model", "entity", "uniquenessConstraints", "uniquenessConstraint"]:
      change { $0.uniqueConstraints.append([]) }
    case ["model", "entity", "uniquenessConstraints", "uniquenessConstraint", "constraint"]:
      guard let name = name(attributes["value"]) else { break }
      change { entity in
        if let last = entity.uniqueConstraints.indices.last {
          entity.uniqueConstraints[last].append(name)
        }
      }
    default: if path.count > ModelLimits.ancestorsMax { problem = "it is nested too deeply" }
    }
    return problem == nil
  }

  mutating func end() { _ = path.popLast() }

  private mutating func addEntity(_ values: [String: String]) {
    guard let name = name(values["name"]) else { return }
    guard entities.count < ModelLimits.entitiesMax else {
      problem = "the model has more than \(ModelLimits.entitiesMax) entities"
      return
    }
    var entity = ManagedObjectModel.Entity(name: name, superentity: values["parentEntity"])
    entity.isAbstract = values.flag("isAbstract")
    entity.renamingIdentifier = values["elementID"]
    entities.append(entity)
  }

  private mutating func addAttribute(_ values: [String: String]) {
    guard let name = name(values["name"]) else { return }
    let type = ManagedObjectModel.AttributeKind(xcodeName: values["attributeType"] ?? "")
    var attribute = ManagedObjectModel.Attribute(name: name, type: type)
    attribute.isOptional = values.flag("optional")
    attribute.isTransient = values.flag("transient")
    attribute.isDerived = values.flag("derived")
    attribute.isExternal = values.flag("allowsExternalBinaryDataStorage")
    attribute.transformer = values["valueTransformerName"]
    attribute.renamingIdentifier = values["elementID"]
    attribute.defaultValue = Self.defaultValue(values, of: type)
    change { $0.attributes.append(attribute) }
  }

  private mutating func addRelationship(_ values: [String: String]) {
    guard let name = name(values["name"]), let end = self.name(values["destinationEntity"]) else {
      return
    }
    var relationship = ManagedObjectModel.Relationship(
      name: name, destination: end, inverse: values["inverseName"])
    relationship.isToMany = values.flag("toMany") || values["maxCount"] != "1"
    relationship.isOrdered = values.flag("ordered")
    relationship.isOptional = values.flag("optional")
    relationship.isTransient = values.flag("transient")
    relationship.renamingIdentifier = values["elementID"]
    relationship.deleteRule =
      switch values["deletionRule"] {
      case "No Action": .noAction
      case "Cascade": .cascade
      case "Deny": .deny
      default: .nullify
      }
    change { $0.relationships.append(relationship) }
  }

  private mutating func change(_ body: (inout ManagedObjectModel.Entity) -> Void) {
    propertiesLeft -= 1
    if propertiesLeft < 0 { problem = "the model has too many properties" }
    // An entity without a usable name has stopped the reading.
    if let last = entities.indices.last, problem == nil { body(&entities[last]) }
  }

  private mutating func name(_ text: String?) -> String? {
    guard let text, !text.isEmpty, text.utf8.count <= ModelLimits.nameBytesMax else {
      problem = "an entity or a property of the model has no usable name"
      return nil
    }
    return text
  }

  /// Returns the default if a migration can express it; null otherwise.
  private static func defaultValue(
    _ values: [String: String], of type: ManagedObjectModel.AttributeKind
  ) -> Value {
    if type == .date {
      return values["defaultDateTimeInterval"].flatMap(Double.init).flatMap(CoreDataDate.value)
        ?? .null
    }
    guard let text = values["defaultValueString"], text.utf8.count <= ModelLimits.nameBytesMax
    else { return .null }
    switch type {
    case .int16, .int32, .int64: return Int64(text).map(Value.int64) ?? .null
    case .bool: return .bool(text == "YES")
    case .double, .float:
      guard let number = Double(text), number.isFinite else { return .null }
      return .double(number)
    case .string: return .string(text)
    default: return .null
    }
  }
}

extension ManagedObjectModel.AttributeKind {
  /// Creates the type from its name in the XML.
  fileprivate init(xcodeName name: String) {
    switch name {
    case "Integer 16": self = .int16
    case "Integer 32": self = .int32
    case "Integer 64": self = .int64
    case "Decimal": self = .decimal
    case "Double": self = .double
    case "Float": self = .float
    case "String": self = .string
    case "Boolean": self = .bool
    case "Date": self = .date
    case "Binary": self = .binary
    case "UUID": self = .uuid
    case "URI": self = .uri
    case "Transformable": self = .transformable
    case "Object ID", "ObjectID": self = .objectID
    case "Composite": self = .composite
    default: self = .undefined
    }
  }
}

extension [String: String] {
  fileprivate func flag(_ name: String) -> Bool { self[name] == "YES" }
}

private func startElement(
  _ context: UnsafeMutableRawPointer?, _ name: UnsafePointer<UInt8>?,
  _ prefix: UnsafePointer<UInt8>?, _ uri: UnsafePointer<UInt8>?, _ namespaces: Int32,
  _ attributeCount: Int32, _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
) -> Int32 {
  // SAFETY: the context is the builder that `model` lent.
  guard let builder = context?.assumingMemoryBound(to: ModelBuilder.self), let name else {
    return 0
  }
  var values: [String: String] = [:]
  for number in 0..<Int(attributeCount) {
    // SAFETY: five pointers each: the name, which ends with NUL, and the first byte of the value
    // and the one after its last are among them.
    guard let attributes, let key = attributes[number * 5], let start = attributes[number * 5 + 3],
      let end = attributes[number * 5 + 4]
    else { continue }
    values[String(cString: key)] = String(
      decoding: UnsafeBufferPointer(start: start, count: end - start), as: UTF8.self)
  }
  return builder.pointee.start(String(cString: name), values) ? 1 : 0
}

private func endElement(_ context: UnsafeMutableRawPointer?) {
  // SAFETY: as above.
  context?.assumingMemoryBound(to: ModelBuilder.self).pointee.end()
}

private func ignoreText(
  _ context: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ length: Int32
) -> Int32 { 1 }

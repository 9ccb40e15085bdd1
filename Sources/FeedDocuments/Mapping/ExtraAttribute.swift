package import EntityModel
import Foundation

/// The attribute that keeps the members of an item that a mapping does not read.
package struct ExtraAttribute: Sendable {
  let name: String
  private let isText: Bool
  private let bytesMax: Int

  /// Returns nil unless the attribute is optional and of type string or data.
  package init?(_ description: AttributeDescription) {
    guard description.isOptional, [.string, .data].contains(description.type) else { return nil }
    name = description.name
    isText = description.type == .string
    // A character takes at least one byte.
    bytesMax = min(DocumentLimits.extraBytesMax, description.validation.maxLength ?? .max)
  }

  /// Returns the members that fit as one JSON object, nil if there are none, and the number of
  /// members that do not fit.
  func keep(_ members: some Sequence<CanonicalJSON.Member>) -> (value: Value?, leftOut: Int) {
    let (json, leftOut) = CanonicalJSON.object(of: members, bytesMax: bytesMax)
    return (json.count > 2 ? value(json) : Value?.none, leftOut)
  }

  private func value(_ json: [UInt8]) -> Value {
    isText ? .string(String(decoding: json, as: UTF8.self)) : .data(Data(json))
  }
}

/// The attributes named `extra`, which keep the unknown members of items of homefeed/1.
struct HomeFeedExtras: Sendable {
  struct Extra: Sendable {
    let attribute: ExtraAttribute
    /// Names of the entity's attributes.
    let known: MemberNames
  }

  private static let name = "extra"

  private var byEntity: [String: Extra] = [:]
  private let defaultEntity: String
  let volatileAttributes: [String: Set<String>]

  /// - Parameter defaultEntity: The entity of items that name no kind.
  init(_ schema: Schema, defaultEntity: String) {
    for entity in schema.entities where entity.attribute(named: "feedID") != nil {
      guard let description = entity.attribute(named: Self.name), description.owner == .feed,
        let attribute = ExtraAttribute(description)
      else { continue }
      byEntity[entity.name] = Extra(
        attribute: attribute, known: MemberNames(entity.attributes.map(\.name) + ["path"]))
    }
    self.defaultEntity = defaultEntity
    var volatile = byEntity.mapValues { _ in Set([Self.name]) }
    volatile[""] = volatile[defaultEntity]
    volatileAttributes = volatile
  }

  func of(_ kind: String?) -> Extra? { byEntity[kind ?? defaultEntity] }
}

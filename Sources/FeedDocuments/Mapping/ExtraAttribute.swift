package import EntityModel
import Foundation

/// The attribute that keeps what a mapping does not read.
package struct ExtraAttribute: Sendable {
  let name: String
  private let isText: Bool
  private let bytesMax: Int

  /// - Returns: `nil` for an attribute that cannot: not every item has such members, and they are
  ///   kept as text or bytes.
  package init?(_ description: AttributeDescription) {
    guard description.isOptional, [.string, .data].contains(description.type) else { return nil }
    name = description.name
    isText = description.type == .string
    // A character has a byte at least.
    bytesMax = min(DocumentLimits.extraBytesMax, description.validation.maxLength ?? .max)
  }

  /// The members that fit, as JSON.
  ///
  /// - Returns: `nil` where there are none, or none fits; and how many do not.
  func keep(_ members: some Sequence<CanonicalJSON.Member>) -> (value: Value?, leftOut: Int) {
    let (json, leftOut) = CanonicalJSON.object(of: members, bytesMax: bytesMax)
    return (json.count > 2 ? value(json) : Value?.none, leftOut)
  }

  private func value(_ json: [UInt8]) -> Value {
    isText ? .string(String(decoding: json, as: UTF8.self)) : .data(Data(json))
  }
}

/// What keeps the unknown members of items of homefeed/1: the attribute `extra` of their entity.
struct HomeFeedExtras: Sendable {
  struct Extra: Sendable {
    let attribute: ExtraAttribute
    /// Attributes that the entity has.
    let known: MemberNames
  }

  private static let name = "extra"

  private var byEntity: [String: Extra] = [:]
  private let defaultEntity: String
  let volatileAttributes: [String: Set<String>]

  /// - Parameter defaultEntity: Of items that name no kind.
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

import EntityModel
import Foundation

/// The attribute that keeps what a mapping does not read.
struct ExtraAttribute: Sendable {
  let name: String
  private let isText: Bool
  fileprivate let bytesMax: Int

  /// - Returns: `nil` for an attribute that cannot: not every item has such members, and they are
  ///   kept as text or bytes.
  init?(_ description: AttributeDescription) {
    guard description.isOptional, [.string, .data].contains(description.type) else { return nil }
    name = description.name
    isText = description.type == .string
    // A character has a byte at least.
    bytesMax = min(Limits.extraBytesMax, description.validation.maxLength ?? .max)
  }

  fileprivate func value(_ json: [UInt8]) -> Value {
    isText ? .string(String(decoding: json, as: UTF8.self)) : .data(Data(json))
  }
}

/// The members of an item that a mapping neither reads nor knows, as JSON.
struct ExtraMembers {
  /// `nil` where there are none, or none fits.
  let value: Value?
  /// Members that do not fit.
  let leftOut: Int

  init(of node: JSONValue, besides known: MemberNames, for attribute: ExtraAttribute) {
    let members = node.members.lazy.filter { !known.contains($0.name) }
    let (json, leftOut) = CanonicalJSON.object(of: members, bytesMax: attribute.bytesMax)
    self.leftOut = leftOut
    value = json.count > 2 ? attribute.value(json) : Value?.none
  }
}

package import EntityModel
import TextFormats

/// A person's answer to a guess that is marked `unconfirmed`.
package struct MarkChoice: Hashable, Sendable {
  package let entity: String
  package let property: String
  /// The reading; `nil` for the one of the mapping.
  package let reading: String?

  /// Creates a choice from `Entity.property` or `Entity.property=reading`.
  ///
  /// - Returns: `nil` for a text of another form.
  package init?(_ text: String) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let names = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    guard names.count == 2, !names.contains(""), parts.last != "" else { return nil }
    entity = String(names[0])
    property = String(names[1])
    reading = parts.count == 2 ? String(parts[1]) : nil
  }

  /// The name of the property, as marks show it.
  package var name: String { "\(entity).\(property)" }
}

/// A change of the schema that a choice needs.
package enum ReadingChange: Hashable, Sendable {
  case retype(entity: String, attribute: String, AttributeType)
  case dropAttribute(entity: String, attribute: String)
  case retarget(entity: String, relationship: String, destination: String)
  case dropRelationship(entity: String, relationship: String)

  package var description: String {
    switch self {
    case .retype(let entity, let attribute, let type):
      "the type of \(entity).\(attribute) becomes \(type.name)"
    case .dropAttribute(let entity, let attribute):
      "the attribute \(entity).\(attribute) is dropped"
    case .retarget(let entity, let relationship, let destination):
      "\(entity).\(relationship) leads to \(destination)"
    case .dropRelationship(let entity, let relationship):
      "the relationship \(entity).\(relationship) is dropped"
    }
  }
}

extension AttributeMapping {
  /// Takes a reading for right: the one that it has, a form of dates, or a type.
  ///
  /// - Throws: `ImportError` for a word that is neither.
  mutating func confirm(_ reading: String?, of name: String) throws(ImportError) {
    unconfirmed = nil
    guard let reading else { return }
    if let form = Conversion.DateForm(rawValue: reading) {
      // To name the form that it has means that the placeholder is a date, too.
      let placeholders = form == conversion.date ? [DatePlaceholder.distantFuture.word] : []
      type = .date
      conversion = Conversion(
        emptyIsNull: conversion.emptyIsNull,
        nullValues: conversion.nullValues.subtracting(placeholders), date: form,
        zoneMinutes: form.mayLackZone ? conversion.zoneMinutes : nil)
    } else if let new = Self.types.first(where: { $0.name == reading }) {
      if new == type { return }
      type = new
      conversion = .none
    } else {
      let words = Self.types.map(\.name) + Conversion.DateForm.allCases.map(\.rawValue)
      throw ImportError(
        .mapping, "this is no reading of an attribute",
        [("attribute", name), ("reading", reading)],
        advice: NearestName.advice(
          on: reading, among: words, otherwise: "use \(words.joined(separator: ", "))"))
    }
  }

  private static let types: [AttributeType] = [
    .int64, .double, .decimal, .bool, .string, .uuid, .url, .data,
  ]
}

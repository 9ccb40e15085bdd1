import EntityStore
import Foundation

extension ImportMapping {
  /// Returns true if an import may have the name. Its migration line has the same name, so that
  /// names of system lines are excluded.
  package static func isName(_ name: String) -> Bool {
    name.wholeMatch(of: /[a-z][a-z0-9.-]{0,63}/) != nil && name != "system"
      && !name.hasPrefix("system.")
  }

  /// Returns a name of the source for a message: on one line, in quotes, cut to a readable length.
  static func quoted(_ name: String) -> String {
    let lengthMax = 60
    var text = ""
    for scalar in name.unicodeScalars.prefix(lengthMax) {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: text += "\u{FFFD}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return name.unicodeScalars.count > lengthMax ? "\"\(text)…\"" : "\"\(text)\""
  }
}

extension [String] {
  /// The first names of the list and the number of the others, for a message.
  var shortList: String {
    let shownMax = 16
    let shown = prefix(shownMax).joined(separator: ", ")
    return count > shownMax ? "\(shown) and \(count - shownMax) more" : shown
  }
}

extension RejectLimit {
  /// - Parameter percentage: Digits, with up to nine after a point: 0.1 is one in a thousand.
  /// - Returns: `nil` if it is of another form or over 100.
  init?(percentage: String) {
    guard percentage.wholeMatch(of: /[0-9]{1,3}(\.[0-9]{1,9})?/) != nil,
      let decimal = Decimal(string: percentage), decimal <= 100,
      let share = Double("\(decimal / 100)")
    else { return nil }
    self = .share(share)
  }

  /// The text of a mapping file: `12`, `0.1%`.
  package var text: String {
    switch self {
    case .count(let count): String(count)
    case .share(let share): "\((Decimal(string: "\(share)") ?? 0) * 100)%"
    }
  }
}

extension ImportMapping {
  /// A checksum that is the same for equal mappings, whatever their files look like.
  var checksum: String {
    String(UInt64(bitPattern: ContentHash.of(MappingFile.text(of: withoutEvidence))), radix: 16)
  }

  /// The mapping as it is read from a file, in which evidence stands in comments.
  package var withoutEvidence: ImportMapping {
    var mapping = self
    mapping.evidence = []
    for entity in mapping.entities.indices {
      mapping.entities[entity].evidence = []
      for number in mapping.entities[entity].attributes.indices {
        mapping.entities[entity].attributes[number].evidence = []
      }
      for number in mapping.entities[entity].relationships.indices {
        mapping.entities[entity].relationships[number].evidence = []
      }
    }
    return mapping
  }

  /// The guesses that have not been confirmed, as `Entity.property: why`.
  var unconfirmed: [String] {
    entities.flatMap { entity in
      entity.attributes.compactMap { attribute in
        attribute.unconfirmed.map { "\(entity.entity).\(attribute.attribute): \($0)" }
      }
        + entity.relationships.compactMap { relationship in
          relationship.unconfirmed.map { "\(entity.entity).\(relationship.relationship): \($0)" }
        }
    }
  }
}

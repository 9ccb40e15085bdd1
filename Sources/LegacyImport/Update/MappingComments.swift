import StrictYAML

/// Finds the comments of a mapping file, so that an updated file has them, too: those above and
/// beside the file's keys, the entries, their attributes and their relationships.
struct MappingComments {
  private let lines: [String]
  /// The lines whose comments have been given to an entry.
  private var used: Set<Int> = []

  init(_ text: String) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// Returns the mapping with the comments as its evidence.
  ///
  /// - Parameter root: The file of the mapping.
  mutating func added(to mapping: ImportMapping, from root: YAMLNode) throws -> ImportMapping {
    var commented = mapping
    var file = try root.mapping()
    commented.evidence = heading(before: file.keys.first?.line ?? 1)
    commented.evidence += file.keys.flatMap { comments(at: $0.line) }
    guard let entities = try file.optional("entities")?.sequence() else { return commented }
    for (number, node) in entities.enumerated() where number < mapping.entities.count {
      commented.entities[number].evidence = comments(at: node.line)
      var keys = try node.mapping()
      if let entries = try keys.optional("attributes")?.mapping() {
        for (name, line) in entries.keys {
          let places = mapping.entities[number].attributes.indices
          guard
            let place = places.first(where: {
              mapping.entities[number].attributes[$0].attribute == name
            })
          else { continue }
          commented.entities[number].attributes[place].evidence = comments(at: line)
        }
      }
      if let entries = try keys.optional("relationships")?.mapping() {
        for (name, line) in entries.keys {
          let places = mapping.entities[number].relationships.indices
          guard
            let place = places.first(where: {
              mapping.entities[number].relationships[$0].relationship == name
            })
          else { continue }
          commented.entities[number].relationships[place].evidence = comments(at: line)
        }
      }
    }
    return commented
  }

  /// Returns the comments at the beginning of the file.
  private mutating func heading(before line: Int) -> [String] {
    var comments: [String] = []
    for (place, text) in lines.prefix(line - 1).enumerated() {
      guard let text = Self.wholeComment(text), used.insert(place).inserted else { continue }
      comments.append(text)
    }
    return Self.paragraphs(comments)
  }

  /// Returns the comments directly above a line and at its end.
  private mutating func comments(at line: Int) -> [String] {
    let place = line - 1
    guard lines.indices.contains(place), used.insert(place).inserted else { return [] }
    var above: [String] = []
    var next = place - 1
    while next >= 0, let text = Self.wholeComment(lines[next]), used.insert(next).inserted {
      above.append(text)
      next -= 1
    }
    return Self.paragraphs(above.reversed())
      + [Self.comment(atEndOf: lines[place])].compactMap(\.self)
  }

  private static func wholeComment(_ line: String) -> String? {
    let text = line.drop { $0 == " " }
    return text.first == "#" ? String(text.dropFirst()) : nil
  }

  /// Joins the lines of a long comment, which are indented from the second one on.
  private static func paragraphs(_ comments: [String]) -> [String] {
    var paragraphs: [String] = []
    for comment in comments {
      let text = String(comment.drop { $0 == " " })
      if comment.hasPrefix("  "), let last = paragraphs.popLast() {
        paragraphs.append(last + " " + text)
      } else {
        paragraphs.append(text)
      }
    }
    return paragraphs
  }

  private static func comment(atEndOf line: String) -> String? {
    var quote: Character?
    var before: Character = " "
    for place in line.indices {
      let character = line[place]
      if let open = quote {
        if character == open, before != "\\" { quote = nil }
      } else if character == "#", before == " " {
        return String(line[place...].dropFirst().drop { $0 == " " })
      } else if character == "\"" || character == "'" {
        quote = character
      }
      before = character
    }
    return nil
  }
}

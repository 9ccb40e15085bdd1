import EntityModel

/// A built-in mapping as the start of the operator's own file: without the attributes that the
/// entity lacks, or with a migration that creates them.
struct OwnedFeedMapping {
  /// The attributes with their lines, verbatim.
  private(set) var attributes: [SuggestedFeedMapping.Attribute] = []
  /// The line that stores the members that no other line reads.
  let extra: SuggestedFeedMapping.Attribute?
  private let head: [String]
  private let name: String
  private let entity: String

  /// The types of the attributes of the built-in mappings.
  private static let types: [String: AttributeType] = [
    "title": .string, "summary": .string, "url": .url, "externalURL": .url, "publishedAt": .date,
    "contentHTML": .string, "contentText": .string, "image": .url, "authors": .strings,
    "tags": .strings, "language": .string, "duration": .int64, "mediaURL": .url,
    "mediaType": .string, "mediaBytes": .int64, "season": .int64, "episode": .int64,
  ]

  init(builtIn text: String, name: String, entity: String, description: EntityDescription?) {
    self.name = name
    self.entity = entity
    let lines = text.split(separator: "\n").map(String.init)
    let start = lines.firstIndex(of: "attributes:") ?? lines.endIndex
    head = lines[..<start].filter { line in
      !["#", "mapping:", "extra:"].contains { line.hasPrefix($0) }
    }
    extra = SuggestedFeedMapping.extra(in: description)
    for line in lines[start...].dropFirst() {
      let key = line.dropFirst(2).prefix { $0 != ":" }
      guard line.hasPrefix("  "), !key.hasPrefix(" "), let type = Self.types[String(key)] else {
        // It continues the attribute before it, if that is included.
        if line.hasPrefix("   "), isIncluded {
          attributes[attributes.count - 1].source += "\n" + line
        }
        continue
      }
      let existing = description?.attribute(named: String(key))
      isIncluded = existing.map { $0.type == type && $0.owner == .feed } ?? true
      guard isIncluded else { continue }
      attributes.append(
        .init(name: String(key), source: line, newType: existing == nil ? type : nil))
    }
  }

  private var isIncluded = false

  func text(hasNew: Bool) -> String {
    let taken = attributes.filter { hasNew || $0.newType == nil }
    let kept = extra.flatMap { hasNew || $0.newType == nil ? $0 : nil }
    let lines =
      ["mapping: \(name)", "entity: \(entity)"] + head
      + (kept.map { ["\($0.name): \($0.source)"] } ?? []) + (taken.isEmpty ? [] : ["attributes:"])
      + taken.map(\.source)
    return lines.joined(separator: "\n") + "\n"
  }
}

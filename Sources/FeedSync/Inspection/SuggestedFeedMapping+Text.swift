import EntityModel

extension SuggestedFeedMapping {
  /// The guesses that the operator must confirm, one line each.
  var unconfirmed: [String] {
    head.compactMap { line in line.unconfirmed.map { "\(line.key): \($0)" } }
      + attributes.compactMap { line in line.unconfirmed.map { "\(line.name): \($0)" } }
      + proposals.map { "\($0.key): left out until you confirm \($0.doubt) (\($0.value))" }
  }

  /// Returns the text of the mapping file.
  ///
  /// - Parameters:
  ///   - entity: The entity of the items.
  ///   - hasNew: True to include the attributes that the migration creates; otherwise they are
  ///     comments.
  func text(name: String, entity: String, origin: String, hasNew: Bool) -> String {
    var lines = [
      "# Suggested from \(origin.onOneLine): \(profile.items) items were looked at.",
      "mapping: \(name)",
    ]
    var rest = head[...]
    for line in rest.prefix(while: { $0.key != "next" && $0.key != "checkpoint" }) {
      lines.append(Self.line(line.key, line.value, line.unconfirmed))
      rest = rest.dropFirst()
      if line.key == "items" { lines.append("entity: \(entity)") }
    }
    lines += proposals.map { "# " + Self.line($0.key, $0.value, $0.doubt) }
    if !known.isEmpty {
      lines.append("known: [\(known.map(feedMappingScalar).joined(separator: ", "))]")
    }
    if let extra {
      let isLeft = !hasNew && extra.newType != nil
      lines.append(
        (isLeft ? "# " : "") + "\(extra.name): \(extra.source)  # keeps as JSON what comes later"
          + (known.isEmpty ? "" : ", and what is taken out of known")
          + (isLeft ? "; --migration DIR writes what makes the attribute" : ""))
    }
    let live = attributes.filter { hasNew || $0.newType == nil }
    if !live.isEmpty { lines.append("attributes:") }
    lines += live.map { "  " + Self.line(feedMappingScalar($0.name), $0.source, $0.unconfirmed) }
    let left = hasNew ? [] : attributes.filter { $0.newType != nil }
    if !left.isEmpty {
      lines.append(
        "# \(entity) has no attributes for these; --migration DIR writes what makes them:")
      lines += left.map { "#  " + Self.line(feedMappingScalar($0.name), $0.source, $0.unconfirmed) }
    }
    for line in rest { lines.append(Self.line(line.key, line.value, line.unconfirmed)) }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func line(_ key: String, _ value: String, _ unconfirmed: String?) -> String {
    "\(key): \(value)" + (unconfirmed.map { "  # unconfirmed: \($0.onOneLine)" } ?? "")
  }
}

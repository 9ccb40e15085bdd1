import EntityModel
import EntityStore
import SchemaFiles

extension MappingFile {
  /// Returns the text of the file. Reading it gives an equal mapping without the evidence, which
  /// stands in comments above its subject.
  ///
  /// - Returns: A text with a line break at its end, up to 100 columns wide unless a single name or
  ///   value is longer. Equal mappings have equal texts.
  package static func text(of mapping: ImportMapping) -> String {
    var writer = MappingWriter()
    writer.write(mapping)
    return writer.text
  }
}

private struct MappingWriter {
  private(set) var text = ""

  mutating func write(_ mapping: ImportMapping) {
    writeComment(mapping.evidence, at: 0)
    if !mapping.evidence.isEmpty { text += "\n" }
    writeEntry("import", .name(mapping.name), at: 0)
    writeEntry("dialect", .name(mapping.dialect.rawValue), at: 0)
    if mapping.rejectLimit != .count(0) {
      writeEntry("rejects", .scalar(mapping.rejectLimit.text), at: 0)
    }
    if !mapping.lostTables.isEmpty {
      let tables = mapping.lostTables.sorted { $0.key < $1.key }
      writeEntry(
        "lostTables", .mapping(tables.map { (ConversionFile.scalar($0.key), .name($0.value)) }),
        at: 0)
    }
    text += mapping.entities.isEmpty ? "entities: []\n" : "entities:\n"
    for (number, entity) in mapping.entities.enumerated() {
      if number > 0 { text += "\n" }
      write(entity)
    }
    writeSkipped(mapping)
  }

  private mutating func write(_ entity: EntityMapping) {
    writeComment(entity.evidence, at: 2)
    text += "  - entity: \(ConversionFile.scalar(entity.entity))\n"
    writeEntry("table", .name(entity.table), at: 4)
    if let former = entity.formerTable { writeEntry("formerTable", .name(former), at: 4) }
    if !entity.filter.isOneOf.isEmpty { writeEntry("where", .words(entity.filter.isOneOf), at: 4) }
    if !entity.filter.isNoneOf.isEmpty {
      writeEntry("unless", .words(entity.filter.isNoneOf), at: 4)
    }
    writeEntry("key", .names(entity.key), at: 4)
    if !entity.match.isEmpty { writeEntry("match", .names(entity.match), at: 4) }
    if !entity.attributes.isEmpty { text += "    attributes:\n" }
    for attribute in entity.attributes {
      writeComment(attribute.evidence, at: 6)
      writeEntry(ConversionFile.scalar(attribute.attribute), attribute.written, at: 6)
    }
    if !entity.relationships.isEmpty { text += "    relationships:\n" }
    for relationship in entity.relationships {
      writeComment(relationship.evidence, at: 6)
      writeEntry(ConversionFile.scalar(relationship.relationship), relationship.written, at: 6)
    }
  }

  private mutating func writeSkipped(_ mapping: ImportMapping) {
    if mapping.skippedTables.isEmpty, mapping.skippedColumns.isEmpty { return }
    text += "skip:\n"
    if !mapping.skippedTables.isEmpty {
      writeEntry("tables", .names(mapping.skippedTables.sorted()), at: 2)
    }
    if !mapping.skippedColumns.isEmpty {
      let tables = mapping.skippedColumns.sorted { $0.key < $1.key }
      writeEntry(
        "columns",
        .mapping(tables.map { (ConversionFile.scalar($0.key), .names($0.value.sorted())) }), at: 2)
    }
  }

  private mutating func writeEntry(_ key: String, _ value: WrittenYAML, at column: Int) {
    let start = String(repeating: " ", count: column) + key + ":"
    text += start + value.text(at: column, after: start.count) + "\n"
  }

  // MARK: Comments

  private mutating func writeComment(_ paragraphs: [String], at column: Int) {
    let start = String(repeating: " ", count: column) + "#"
    for paragraph in paragraphs {
      var line = start
      for word in Self.printable(paragraph).split(separator: " ") {
        if line != start, line.count + word.count >= 100 {
          text += line + "\n"
          line = start + " "
        }
        line += " " + word
      }
      text += line + "\n"
    }
  }

  /// Returns evidence on one line. It quotes the source file, and nothing in it may end the
  /// comment.
  private static func printable(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          switch scalar {
          case "\t", "\n", "\r": " "
          case "\u{00}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", "\u{FEFF}",
            "\u{FFFE}", "\u{FFFF}":
            "\u{FFFD}"
          default: scalar
          }
        }))
  }
}

extension AttributeMapping {
  var written: WrittenYAML {
    var entries: [(key: String, value: WrittenYAML)] = []
    switch source {
    case .constant(let value):
      return .mapping([("value", .scalar(ConversionFile.text(value, of: type)))])
    case .column(let column): entries.append(("column", .name(column)))
    }
    switch content {
    case .value: break
    case .external: entries.append(("external", .scalar("true")))
    case .archive(let classes, let keepsBytes):
      entries.append(("archive", .names(classes.sorted())))
      if keepsBytes { entries.append(("keepBytes", .scalar("true"))) }
    }
    if missingFile != .reject { entries.append(("missingFile", .name(missingFile.rawValue))) }
    if badText != .refuse { entries.append(("badText", .name(badText.rawValue))) }
    for (key, text) in ConversionFile.entries(conversion, to: type) {
      entries.append((key, .scalar(text)))
    }
    if let unconfirmed { entries.append(("unconfirmed", .name(unconfirmed))) }
    if entries.count == 1, let column = entries.first?.value { return column }
    return .mapping(entries)
  }
}

extension RelationshipMapping {
  var written: WrittenYAML {
    var entries: [(key: String, value: WrittenYAML)] = []
    switch source {
    case .columns(let columns):
      entries.append((columns.count == 1 ? "column" : "columns", .nameOrNames(columns)))
    case .join(let table, let owner, let target, let order):
      entries.append(("join", .name(table)))
      entries.append(("owner", .nameOrNames(owner)))
      entries.append(("target", .nameOrNames(target)))
      if let order { entries.append(("order", .name(order))) }
    }
    entries.append(("table", .name(table)))
    if orphan != .reject { entries.append(("orphan", .name(orphan.rawValue))) }
    if let unconfirmed { entries.append(("unconfirmed", .name(unconfirmed))) }
    return .mapping(entries)
  }
}

extension WrittenYAML {
  fileprivate static func name(_ name: String) -> WrittenYAML {
    .scalar(ConversionFile.scalar(name))
  }

  fileprivate static func names(_ names: [String]) -> WrittenYAML { .list(names.map(name)) }

  /// Returns one name as a scalar, and several as a list.
  fileprivate static func nameOrNames(_ names: [String]) -> WrittenYAML {
    if names.count == 1, let name = names.first { .name(name) } else { .names(names) }
  }

  /// Returns the words of each column, null first.
  fileprivate static func words(_ columns: [String: Set<String?>]) -> WrittenYAML {
    .mapping(
      columns.sorted { $0.key < $1.key }.map { column, words in
        let known = words.compactMap { $0 }.sorted().map {
          WrittenYAML.scalar(ConversionFile.word($0))
        }
        let null = words.contains(nil) ? [WrittenYAML.scalar("null")] : []
        return (ConversionFile.scalar(column), .list(null + known))
      })
  }
}

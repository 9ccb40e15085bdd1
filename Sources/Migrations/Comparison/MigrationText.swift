package import EntityModel
public import EntityStore
import SchemaFiles

/// Writes migration files in the layout that a person would choose.
public enum MigrationText {
  /// Returns the text of a migration file.
  ///
  /// Reading the text gives equal steps if a file can state them. A default or a rule of an
  /// existing attribute (`AttributeChange`) must have the form that it has in a file: a number, a
  /// boolean, a text or a list of texts. The cases of an enumeration of texts are written as names.
  ///
  /// - Parameter down: The steps that undo the migration, in the order in which they are run.
  /// - Returns: The file with a line break at its end. Lines have at most 100 columns unless a
  ///   single text is longer. Steps that lose data have `destructive: true`.
  public static func yaml(
    of steps: [MigrationStep], down: [MigrationStep] = [], line: String, summary: String,
    requires: [Migration.Requirement] = [], older: OlderPrograms = .read
  ) -> String {
    var file = MappingText()
    file.add("line", line)
    file.add("summary", summary)
    if !requires.isEmpty {
      file.add("requires", .list(requires.map { .scalar("\($0.line)@\($0.version)") }))
    }
    if older != .read { file.add("older", older.rawValue) }
    var text = file.entries.map { "\($0.key):" + $0.value.text(at: 0, after: $0.key.count + 1) }
    text.append(Self.text("steps", steps))
    if !down.isEmpty { text.append(Self.text("down", down)) }
    return text.joined(separator: "\n") + "\n"
  }

  private static func text(_ key: String, _ steps: [MigrationStep]) -> String {
    let lines = steps.map { step in
      let verb = step.verb.rawValue + ":"
      return "\n  - " + verb + step.arguments().text(at: 4, after: 4 + verb.count)
    }
    return steps.isEmpty ? "\(key): []" : "\(key):" + lines.joined()
  }
}

extension MigrationText {
  /// Returns the steps that create a schema, as a list without the other keys of a migration file.
  /// An entity is written as a block, any other step on one line. Texts are quoted, and `many` is
  /// always written.
  ///
  /// - Parameters:
  ///   - shown: The entities for which steps are written.
  ///   - entities: All entities to which relationships may lead.
  ///   - retention: The retention of the history; `nil` for the default.
  package static func list(
    creating shown: [EntityDescription], among entities: [EntityDescription],
    templates: [RequestTemplate], retention: HistoryRetention?
  ) -> String {
    let steps =
      shown.flatMap(\.creation)
      + shown.flatMap { RelationshipPair.definitions(of: $0, among: entities) }
      .map(MigrationStep.createRelationship)
      + shown.compactMap(\.historyOfLinks) + templates.map(MigrationStep.createTemplate)
      + (retention.map { [.retainHistory($0)] } ?? [])
    return steps.map { step in
      let arguments = step.arguments(isExplicit: true)
      guard case .createEntity = step, case .mapping(let entries) = arguments else {
        return "- \(step.verb.rawValue): \(arguments.flow)\n"
      }
      let attributes = entries.filter { $0.key == "attributes" }
      return "- createEntity:\n"
        + (entries.filter { $0.key != "attributes" } + attributes).map(line).joined()
    }.joined()
  }

  private static func line(_ key: String, _ value: WrittenYAML) -> String {
    guard case .list(let attributes) = value, !attributes.isEmpty else {
      return "    \(key): \(value.flow)\n"
    }
    return "    \(key):\n" + attributes.map { "      - \($0.flow)\n" }.joined()
  }
}

/// A mapping that is being written. Values that a reader would assume by default are left out.
struct MappingText {
  private(set) var entries: [(key: String, value: WrittenYAML)] = []
  /// True if all texts are quoted and `many` is always written.
  var isExplicit = false

  mutating func add(_ key: String, _ value: WrittenYAML?) {
    if let value { entries.append((key, value)) }
  }

  mutating func add(_ key: String, _ text: String?) { add(key, text.map(WrittenYAML.text)) }

  mutating func add(_ key: String, _ number: Int) { add(key, .scalar(String(number))) }

  mutating func add(_ key: String, _ flag: Bool?, unless standard: Bool? = nil) {
    if let flag, flag != standard { add(key, .scalar(flag ? "true" : "false")) }
  }

  var written: WrittenYAML { .mapping(entries) }
}

import EntityModel
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
      return "\n  - " + verb + step.arguments.text(at: 4, after: 4 + verb.count)
    }
    return steps.isEmpty ? "\(key): []" : "\(key):" + lines.joined()
  }
}

/// A mapping that is being written. Values that a reader would assume by default are left out.
struct MappingText {
  private(set) var entries: [(key: String, value: WrittenYAML)] = []

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

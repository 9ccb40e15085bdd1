import StrictYAML

/// The declaration of one setting. Its flag, its variable, its key in the file, its line in
/// `mooring config` and the messages about mistakes are derived from it.
public struct Setting: Sendable {
  /// The effect of a reload on a changed value.
  public enum Reload: String, Sendable {
    /// The value is in effect from then on.
    case live
    /// The value is in effect after a restart.
    case restart
  }

  /// The key in the file, such as `syncEvery`.
  public let name: String
  /// One sentence.
  public let summary: String
  /// The placeholder for the value in a usage line, such as `time`.
  public let valueName: String
  /// The values that are valid, such as `a time from 10s to 30d, such as 15m`.
  public let expectation: String
  /// All values as a flag would have them, if they are few; otherwise empty.
  public let choices: [String]
  public let reload: Reload

  /// The words of the name: `sync`, `every`.
  private let words: [String]
  private typealias Assignment = @Sendable (inout WorkerSettings) -> Void
  private let read: @Sendable (String) -> Assignment?
  private let write: @Sendable (WorkerSettings) -> String
  private let textOfNode: @Sendable (YAMLNode) throws(YAMLError) -> String

  init<Value: Sendable>(
    _ name: String, _ path: any WritableKeyPath<WorkerSettings, Value> & Sendable,
    _ kind: SettingKind<Value>, _ summary: String, _ reload: Reload = .live
  ) {
    self.name = name
    self.summary = summary
    self.reload = reload
    valueName = kind.valueName
    expectation = kind.expectation
    choices = kind.choices
    words = Self.words(of: name)
    read = { text in
      guard let value = kind.value(text) else { return nil }
      return { settings in settings[keyPath: path] = value }
    }
    write = { kind.text($0[keyPath: path]) }
    textOfNode = kind.textOfNode
  }

  /// The flag with its dashes: `--sync-every`.
  public var flag: String { "--" + flagName }
  /// The flag without its dashes.
  public var flagName: String { words.joined(separator: "-") }
  /// The variable of the environment: `MOORING_WORKER_SYNC_EVERY`.
  public var environmentName: String {
    Self.environmentPrefix + words.map { $0.uppercased() }.joined(separator: "_")
  }
  /// The default as a flag would have it; empty for none.
  public var defaultText: String { text(of: WorkerSettings()) }

  static let environmentPrefix = "MOORING_WORKER_"

  /// The setting's value as a file or a flag would have it; empty for none.
  public func text(of settings: WorkerSettings) -> String { write(settings) }

  /// Sets the value.
  ///
  /// - Returns: `false` if the text is not valid for this setting; then nothing is set.
  func assign(_ text: String, to settings: inout WorkerSettings) -> Bool {
    guard let assignment = read(text) else { return false }
    assignment(&settings)
    return true
  }

  /// Returns the value of a key of the file as a flag would have it.
  ///
  /// - Throws: ``YAMLError`` at the value if it is not valid for this setting.
  func text(of node: YAMLNode) throws(YAMLError) -> String {
    if node.isNull { throw node.error("\(name) takes \(expectation), not null; or leave it out") }
    let text = try textOfNode(node)
    guard read(text) != nil else { throw node.error(refusal(of: text, name)) }
    return text
  }

  /// Returns the message about a text that is not valid.
  ///
  /// - Parameter place: The name of the setting where the text was given, such as its flag.
  func refusal(of text: String, _ place: String) -> String {
    let shown = text.unicodeScalars.count > 40 ? "\(text.prefix(40))…" : text
    return "\(place) takes \(expectation), not \"\(shown)\""
  }

  private static func words(of name: String) -> [String] {
    var words: [String] = [""]
    for letter in name {
      if letter.isUppercase { words.append("") }
      words[words.count - 1] += letter.lowercased()
    }
    return words
  }
}

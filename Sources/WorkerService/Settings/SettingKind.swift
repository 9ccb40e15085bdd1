import DurableJobs
import FeedSync
import HTTPClient
import StrictYAML

/// The values of a setting and their text. The text is the same in flags, in the environment and in
/// the file, except that the file has limits as a mapping.
struct SettingKind<Value: Sendable>: Sendable {
  let valueName: String
  let expectation: String
  /// Returns `nil` for a text that is not a value, or out of bounds.
  let value: @Sendable (String) -> Value?
  /// Returns the text of a value: `value(text(v)) == v` for each value within the bounds.
  let text: @Sendable (Value) -> String
  /// The texts of all values, if they are few.
  var choices: [String] = []
  /// Returns the text of a value in the file, by default of a plain scalar.
  var textOfNode: @Sendable (YAMLNode) throws(YAMLError) -> String = {
    (node) throws(YAMLError) in try node.string()
  }
}

extension SettingKind<Int> {
  static func count(_ bounds: ClosedRange<Int>) -> Self {
    Self(
      valueName: "count",
      expectation: "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)",
      value: { wholeNumber($0).flatMap { bounds.contains($0) ? Int($0) : nil } },
      text: { String($0) },
      textOfNode: { (node) throws(YAMLError) in String(try node.int()) })
  }
}

extension SettingKind<Double> {
  static var fraction: Self {
    Self(
      valueName: "fraction", expectation: "a number from 0 to 1, such as 0.1",
      value: { text in
        // `Double` would also read "nan", "0x1p3" and "+1".
        guard text.utf8.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: ".") }),
          let number = Double(text), (0...1).contains(number)
        else { return nil }
        return number
      },
      text: { "\($0)" },
      textOfNode: { (node) throws(YAMLError) in
        _ = try node.double()
        return try node.string()
      })
  }
}

extension SettingKind<Duration> {
  static func time(_ bounds: ClosedRange<Duration>, such example: String) -> Self {
    Self(
      valueName: "time",
      expectation: "a time from \(TimeText.of(bounds.lowerBound)) to "
        + "\(TimeText.of(bounds.upperBound)), such as \(example)",
      value: { TimeText.duration($0).flatMap { bounds.contains($0) ? $0 : nil } },
      text: { TimeText.of($0) })
  }
}

extension SettingKind<Int64> {
  /// A size in bytes.
  static func size(_ bounds: ClosedRange<Int64>, such example: String) -> Self {
    Self(
      valueName: "size",
      expectation: "a size from \(SizeText.of(bounds.lowerBound)) to "
        + "\(SizeText.of(bounds.upperBound)), such as \(example)",
      value: { SizeText.bytes($0).flatMap { bounds.contains($0) ? $0 : nil } },
      text: { SizeText.of($0) })
  }
}

extension SettingKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  static func choice(of type: Value.Type, valueName: String) -> Self {
    let choices = type.allCases.map(\.rawValue)
    return Self(
      valueName: valueName, expectation: "one of " + choices.joined(separator: ", "),
      value: { Value(rawValue: $0) }, text: { $0.rawValue }, choices: choices)
  }
}

extension SettingKind<String?> {
  /// A path; empty for none, so that a flag can override a path in the file.
  static func optionalPath(suffix: String) -> Self {
    Self(
      valueName: "path", expectation: "a path that ends in \(suffix), or \"\" for none",
      value: { text in
        if text.isEmpty { return .some(nil) }
        let isName = text.utf8.count > suffix.utf8.count && text.hasSuffix(suffix)
        guard isName, !text.hasSuffix("/" + suffix), !text.utf8.contains(0) else { return nil }
        return text
      },
      text: { $0 ?? "" })
  }

  /// A web or mail address; empty for none.
  static var optionalContact: Self {
    Self(
      valueName: "url",
      expectation: "a URL such as https://example.org/about or mailto:me@example.org, or \"\" for "
        + "none",
      value: { text in
        if text.isEmpty { return .some(nil) }
        return UserAgent.isContact(text) ? text : nil
      },
      text: { $0 ?? "" })
  }
}

extension SettingKind<[QueueLimit]> {
  static func limits(_ bounds: ClosedRange<Int>, most: Int) -> Self {
    Self(
      valueName: "queue=count,…",
      expectation: "up to \(most) queues, each once, with a limit from \(bounds.lowerBound) to "
        + "\(bounds.upperBound), such as sync=4,import=1",
      value: { text in
        let parts = text.isEmpty ? [] : text.split(separator: ",", omittingEmptySubsequences: false)
        var limits: [QueueLimit] = []
        for part in parts {
          let pair = part.split(separator: "=", omittingEmptySubsequences: false)
          guard pair.count == 2, JobName.isValid(String(pair[0])),
            let limit = wholeNumber(String(pair[1])), bounds.contains(limit)
          else { return nil }
          limits.append(QueueLimit(queue: String(pair[0]), limit: limit))
        }
        guard limits.count <= most, Set(limits.map(\.queue)).count == limits.count else {
          return nil
        }
        return limits.sorted { $0.queue < $1.queue }
      },
      text: { $0.map { "\($0.queue)=\($0.limit)" }.joined(separator: ",") },
      textOfNode: { (node) throws(YAMLError) in
        var mapping = try node.mapping()
        var parts: [String] = []
        for (queue, _) in mapping.keys {
          let value = try mapping.required(queue)
          let limit = try value.int()
          guard JobName.isValid(queue) else {
            throw value.error("a queue's name has letters, digits, \"-\", \"_\" and \".\" only")
          }
          guard bounds.contains(Int(limit)) else {
            throw value.error(
              "a queue's limit is from \(bounds.lowerBound) to \(bounds.upperBound), not \(limit)")
          }
          parts.append("\(queue)=\(limit)")
        }
        return parts.joined(separator: ",")
      })
  }
}

/// Reads a whole number without sign and leading zeros, as in the file.
private func wholeNumber(_ text: String) -> Int? {
  guard text.utf8.allSatisfy(isDigit), text == "0" || !text.hasPrefix("0") else { return nil }
  return Int(text)
}

private func isDigit(_ byte: UInt8) -> Bool {
  (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
}

package import EntityModel
import Foundation

extension ConversionFile {
  /// Returns the text of a conversion in a file, on one line. Reading it gives the same conversion.
  ///
  /// The keys have a fixed order, and sets and cases are sorted, so that equal conversions have
  /// equal texts.
  package static func text(_ conversion: Conversion, to type: AttributeType) -> String {
    braced(entries(conversion, to: type).map { "\($0.key): \($0.text)" })
  }

  /// Returns the keys of the conversion, each with the text that follows it, for a mapping that has
  /// other keys, too.
  package static func entries(
    _ conversion: Conversion, to type: AttributeType
  ) -> [(key: String, text: String)] {
    var entries: [(key: String, text: String)] = []
    func write(_ key: String, _ text: String?) {
      if let text { entries.append((key, text)) }
    }
    func write(_ key: String, _ flag: Bool) { write(key, flag ? "true" : nil) }
    func value(_ value: Value) -> String { text(value, of: type) }

    write("encoding", conversion.encoding?.rawValue)
    write("trim", conversion.trims)
    write("normalize", conversion.normalizes)
    write("lowercase", conversion.lowercases)
    write("emptyIsNull", conversion.emptyIsNull)
    if !conversion.nullValues.isEmpty {
      write("nullValues", flow(conversion.nullValues.sorted().map(word)))
    }
    if !conversion.cases.isEmpty {
      let pairs = conversion.cases.sorted { $0.key < $1.key }
      write("cases", braced(pairs.map { "\(scalar($0.key)): \(value($0.value))" }))
    }
    write("date", conversion.date?.rawValue)
    write("zone", conversion.zoneMinutes.map { $0 == 0 ? "Z" : "\"\(DateText.offset($0))\"" })
    write("scale", conversion.scale?.description)
    write("round", conversion.round?.rawValue)
    write("atLeast", conversion.atLeast.isNull ? nil : value(conversion.atLeast))
    write("atMost", conversion.atMost.isNull ? nil : value(conversion.atMost))
    write("separator", conversion.separator.map(quoted))
    switch conversion.orElse {
    case .refuse: break
    case .null: write("orElse", "null")
    case .value(let other): write("orElse", value(other))
    }
    return entries
  }

  /// Returns the text of a value of an attribute, as ``value(_:of:)`` reads it.
  package static func text(_ value: Value, of type: AttributeType) -> String {
    if case .enumeration(let enumeration) = type, let name = enumeration.name(of: value) {
      return scalar(name)
    }
    switch value {
    case .null, .int64, .double, .bool, .decimal: return value.text
    case .strings(let list): return flow(list.map(scalar))
    case .string, .date, .uuid, .data, .url: return scalar(value.text)
    }
  }

  /// Returns the text of a word. It is plain only if a plain scalar is read as that text and not as
  /// another number.
  package static func word(_ word: String) -> String {
    if let number = Double(word), number.isFinite {
      return Conversion.word(of: .double(number)) == word && word.isPlainNumber
        ? word : quoted(word)
    }
    return scalar(word)
  }

  /// Returns the text as a scalar that is always read as text, in quotes where necessary.
  package static func scalar(_ text: String) -> String {
    let isPlain =
      text != "null" && text.utf8.first.map(\.isLetterOrDigit) == true
      && text.utf8.allSatisfy { $0.isLetterOrDigit || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F }
    return isPlain ? text : quoted(text)
  }

  package static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\u{00}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", "\u{FEFF}",
        "\u{FFFE}", "\u{FFFF}":
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  static func flow(_ elements: [String]) -> String {
    "[" + elements.joined(separator: ", ") + "]"
  }

  static func braced(_ entries: [String]) -> String {
    entries.isEmpty ? "{}" : "{ " + entries.joined(separator: ", ") + " }"
  }
}

extension UInt8 {
  fileprivate var isLetterOrDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: false
    }
  }
}

extension String {
  /// True if every reader of YAML reads the text as that number.
  fileprivate var isPlainNumber: Bool {
    utf8.allSatisfy { $0.isLetterOrDigit || $0 == 0x2D || $0 == 0x2E || $0 == 0x2B }
  }
}

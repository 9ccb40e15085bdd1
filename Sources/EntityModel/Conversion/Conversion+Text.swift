extension Conversion {
  /// The rules as a sentence for plans: `dates as unix milliseconds; 0 is null`. At most eight
  /// words of each rule are listed.
  public var text: String {
    var parts: [String] = []
    if let encoding { parts.append("data as \(encoding.rawValue)") }
    if trims { parts.append("trimmed") }
    if normalizes { parts.append("in normalization form C") }
    if lowercases { parts.append("in lower case") }
    if let date { parts.append("dates as \(date.name)\(zoneText)") }
    if let scale { parts.append("times \(scale)") }
    if let round { parts.append("rounded \(round.text)") }
    if !atLeast.isNull { parts.append("at least \(atLeast.text)") }
    if !atMost.isNull { parts.append("at most \(atMost.text)") }
    if let separator { parts.append("elements between \"\(separator)\"") }
    if emptyIsNull { parts.append("empty is null") }
    if !nullValues.isEmpty {
      let verb = nullValues.count == 1 ? "is" : "are"
      parts.append("\(Conversion.shown(nullValues.sorted())) \(verb) null")
    }
    if !cases.isEmpty {
      let pairs = cases.sorted { $0.key < $1.key }.map {
        "\(Conversion.word($0.key)) is \($0.value.text)"
      }
      parts.append(Conversion.list(pairs))
    }
    switch orElse {
    case .refuse: break
    case .null: parts.append("otherwise null")
    case .value(let value): parts.append("otherwise \(value.text)")
    }
    return parts.isEmpty ? "as the kinds say" : parts.joined(separator: "; ")
  }

  private var zoneText: String {
    zoneMinutes.map { " of UTC" + ($0 == 0 ? "" : DateText.offset($0)) } ?? ""
  }

  private static func shown(_ words: [String]) -> String { list(words.map(word)) }

  private static func word(_ text: String) -> String {
    text.isEmpty || text.contains(where: \.isWhitespace) ? "\"\(text)\"" : text
  }

  private static func list(_ parts: [String]) -> String {
    parts.prefix(8).joined(separator: ", ")
      + (parts.count > 8 ? " and \(parts.count - 8) more" : "")
  }
}

extension Conversion.Rounding {
  var text: String {
    switch self {
    case .halfEven: "to the nearest, halves to even"
    case .halfUp: "to the nearest, halves away from zero"
    case .up: "up"
    case .down: "down"
    case .truncate: "toward zero"
    }
  }
}

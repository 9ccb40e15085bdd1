import TextFormats

/// Names and labels in the form that Prometheus accepts.
enum MetricName {
  /// The name of a family: the prefix, the parts of the label joined by `_`, and the unit.
  static func family(_ label: String, _ kind: MetricKind, prefix: String) -> String {
    let plain = sanitized(label, allowsColon: true)
    var name = plain.hasPrefix(prefix + "_") ? plain : "\(prefix)_\(plain)"
    let unit: String? =
      switch kind {
      case .counter: "_total"
      case .histogram: "_seconds"
      case .gauge, .summary: nil
      }
    if let unit, !name.hasSuffix(unit) { name += unit }
    return name
  }

  /// Returns labels such as `a="1",b="2"`, in the order of names. The last one of a name wins.
  static func labels(_ dimensions: [(String, String)]) -> String {
    var values: [String: String] = [:]
    for (label, value) in dimensions { values[self.label(label)] = value }
    return values.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escaped($0.value))\"" }
      .joined(separator: ",")
  }

  /// The text of a HELP line.
  static func help(_ text: String) -> String {
    text.escaping("\\", as: "\\\\").escaping("\n", as: "\\n").escaping("\r", as: " ")
  }

  /// Returns a valid label name. Names that begin with `__`, and `le` and `quantile`, are reserved.
  private static func label(_ text: String) -> String {
    var name = sanitized(text, allowsColon: false)
    if name.isEmpty || name.first?.isNumber == true { name = "_" + name }
    if name.hasPrefix("__") { name = "label" + name }
    return name == "le" || name == "quantile" ? name + "_" : name
  }

  private static func sanitized(_ text: String, allowsColon: Bool) -> String {
    var name = ""
    for scalar in text.unicodeScalars {
      let isTaken =
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        case ":": allowsColon
        default: false
        }
      name.unicodeScalars.append(isTaken ? scalar : "_")
    }
    return name
  }

  private static func escaped(_ value: String) -> String {
    var text = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\\": text += "\\\\"
      case "\"": text += "\\\""
      case "\n": text += "\\n"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

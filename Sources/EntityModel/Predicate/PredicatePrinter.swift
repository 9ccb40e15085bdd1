extension FetchPredicate: CustomStringConvertible {
  /// The format string of the predicate. `FetchPredicate(format: description)` is equal to it,
  /// unless a constant is NaN or the tree exceeds the limits of a format.
  public var description: String {
    var printer = PredicatePrinter()
    printer.print(self)
    return printer.text
  }
}

extension FetchExpression: CustomStringConvertible {
  /// The format string of the expression, which reads back as that of a predicate does.
  public var description: String {
    var printer = PredicatePrinter()
    printer.print(self)
    return printer.text
  }
}

/// Writes trees as format strings, without parentheses that are not needed.
private struct PredicatePrinter {
  private(set) var text = ""

  mutating func print(_ predicate: FetchPredicate) {
    switch predicate {
    case .always(let value): text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): print(comparison)
    case .exists(let path, let part):
      text += "ANY " + FormatText.path(path) + " SATISFIES "
      printGroup(part)
    case .and(let parts): print(parts, joinedBy: "AND")
    case .or(let parts): print(parts, joinedBy: "OR")
    case .not(let part):
      text += "NOT "
      printGroup(part)
    }
  }

  private mutating func printGroup(_ predicate: FetchPredicate) {
    text += "("
    print(predicate)
    text += ")"
  }

  /// Writes `a AND b`. A condition of one part or none, which is no chain, is written as `AND(a)`
  /// or `AND()`.
  private mutating func print(_ parts: [FetchPredicate], joinedBy word: String) {
    guard parts.count > 1 else {
      text += word + "("
      if let part = parts.first { print(part) }
      text += ")"
      return
    }
    for (position, part) in parts.enumerated() {
      if position > 0 { text += " " + word + " " }
      switch part {
      case .and(let inner) where inner.count > 1, .or(let inner) where inner.count > 1:
        printGroup(part)
      default: print(part)
      }
    }
  }

  private mutating func print(_ comparison: FetchPredicate.Comparison) {
    if let quantifier = comparison.quantifier { text += quantifier.rawValue + " " }
    print(comparison.left)
    text += " " + comparison.comparison.rawValue
    if !comparison.options.isEmpty {
      let letters = ComparisonOptions.letters.filter { comparison.options.contains($0.option) }
      text += "[" + String(letters.map(\.letter)) + "]"
    }
    text += " "
    print(comparison.right)
  }

  mutating func print(_ expression: FetchExpression) {
    switch expression {
    case .value(let value): text += FormatText.literal(value)
    case .object(let id): text += "OBJECT " + FormatText.quoted(id.description)
    case .list(let parts):
      text += "{"
      for (position, part) in parts.enumerated() {
        if position > 0 { text += ", " }
        print(part)
      }
      text += "}"
    case .path(let path): text += FormatText.path(path)
    case .itself: text += "SELF"
    case .variable(let name): text += "$" + (name.isFormatName ? name : FormatText.quoted(name))
    case .collection(let path, let function, let rest):
      text += FormatText.path(path) + ".@" + function.rawValue
      if let rest {
        // A name after a count is an error unless it is marked; no store runs either.
        text += "." + (function == .count ? "#" + FormatText.quoted(rest) : FormatText.path(rest))
      }
    case .aggregate(let function, let part):
      text += function.rawValue + "("
      if let part { print(part) } else { text += "*" }
      text += ")"
    case .arithmetic(let sign, let left, let right):
      print(left, asSideOf: sign.precedence)
      text += " " + sign.rawValue + " "
      print(right, asSideOf: sign.precedence + 1)
    case .negative(let part):
      text += "-("
      print(part)
      text += ")"
    }
  }

  private mutating func print(_ side: FetchExpression, asSideOf precedence: Int) {
    if case .arithmetic(let sign, _, _) = side, sign.precedence < precedence {
      text += "("
      print(side)
      text += ")"
    } else {
      print(side)
    }
  }
}

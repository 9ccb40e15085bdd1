/// The operators between two operands, and their precedence.
extension FormatParser {
  /// Returns the operator that a token stands for between two operands; `nil` if it is none.
  func infix(_ token: FormatToken) -> Pending.Kind? {
    switch token.kind {
    case .symbol(let symbol):
      switch symbol {
      case .and: .and(2)
      case .or: .or(2)
      case .equal, .equalEqual: .comparison(.equal, [])
      case .notEqual, .lessGreater: .comparison(.notEqual, [])
      case .less: .comparison(.less, [])
      case .lessEqual, .equalLess: .comparison(.lessOrEqual, [])
      case .greater: .comparison(.greater, [])
      case .greaterEqual, .equalGreater: .comparison(.greaterOrEqual, [])
      case .plus: .arithmetic(.add)
      case .minus: .arithmetic(.subtract)
      case .asterisk: .arithmetic(.multiply)
      case .slash: .arithmetic(.divide)
      case .power: .arithmetic(.power)
      default: nil
      }
    case .word(let word):
      switch ReservedWord(word) {
      case .and: .and(2)
      case .or: .or(2)
      case let reserved?:
        ComparisonOperator(rawValue: reserved.rawValue.uppercased()).map { .comparison($0, []) }
      case nil: word.asciiLowercased == "satisfies" ? .satisfies : nil
      }
    default: nil
    }
  }

  /// Reads comparison options such as `[cd]`, if they come next.
  mutating func readOptions() throws(PredicateFormatError) -> ComparisonOptions {
    guard try skip(.openBracket) else { return [] }
    var options: ComparisonOptions = []
    if case .word(let letters) = token.kind {
      for letter in letters.asciiLowercased {
        guard let option = ComparisonOptions.letters.first(where: { $0.letter == letter }) else {
          throw failure("unknown option \"\(letter)\"; use c, d, n or l, as in [cd]")
        }
        options.insert(option.option)
      }
      try advance()
    }
    guard !options.isEmpty, try skip(.closeBracket) else {
      throw failure("expected options such as [cd], found \(found)")
    }
    return options
  }
}

extension FormatParser.Pending.Kind {
  /// The precedence: a higher number binds tighter. A group ends at its bracket only.
  var precedence: Int {
    switch self {
    case .open: 0
    case .or: 1
    case .and: 2
    case .not: 3
    case .quantifier: 4
    case .comparison, .satisfies: 5
    case .arithmetic(let sign): 5 + sign.precedence
    case .negative: 9
    }
  }
}

extension ArithmeticOperator {
  /// The precedence. All operators of one precedence group from the left, the power too, as in
  /// Apple's language.
  var precedence: Int {
    switch self {
    case .add, .subtract: 1
    case .multiply, .divide: 2
    case .power: 3
    }
  }
}

extension ComparisonOptions {
  static let letters: [(letter: Character, option: ComparisonOptions)] = [
    ("c", .caseInsensitive), ("d", .diacriticInsensitive), ("n", .normalized), ("l", .localized),
  ]
}

/// The operators between two operands, and how tightly they bind.
extension FormatParser {
  /// The operator that a token is between two operands.
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

  /// `[cd]`, if it comes next.
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
  /// What binds tighter has more. A group ends with its bracket only.
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
  /// All take the left operand first, also the power, as Apple has it.
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

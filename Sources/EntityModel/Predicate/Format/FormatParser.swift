/// Reads a format string into a tree: an operator-precedence parser with a stack of its own, so
/// that no text, however nested, is a matter of the thread's stack.
///
/// A parenthesis may hold a condition or a value, which only its end tells. So both are operands
/// here, and an operator looks at what its operands are when it takes them. From the loosest to the
/// tightest: `OR`, `AND`, `NOT`, `ANY ALL NONE`, comparisons and `SATISFIES`, `+ -`, `* /`, `**`,
/// the sign.
///
///     condition  = condition (OR | AND) condition | NOT condition | "(" condition ")"
///                | [quantifier] value comparator [options] value
///                | (ANY | SOME | NONE) path SATISFIES "(" condition ")"
///                | TRUEPREDICATE | FALSEPREDICATE | (AND | OR) "(" [condition] ")"
///     value      = value ("+" | "-" | "*" | "/" | "**") value | "-" value | "(" value ")"
///                | number | text | word text | NIL | TRUE | FALSE | SELF | path | $variable
///                | "{" [value ("," value)*] "}" | function [":"] "(" (value | "*") ")" | specifier
///     path       = [SELF "."] name ("." name)* ["." @function ("." name)*] ["[" SIZE "]"]
///     name       = word | "#" word | "#" text | %K
struct FormatParser {
  /// A complete part of the tree.
  struct Operand {
    enum Tree {
      case predicate(FetchPredicate)
      case expression(FetchExpression)
    }

    var tree: Tree
    /// Where its text begins.
    var offset: Int
    /// The levels of its tree.
    var height: Int
  }

  /// An operator or an open parenthesis that waits for the end of its last operand.
  struct Pending {
    enum Kind {
      case open(Group)
      case not, negative
      case quantifier(QuantifierWord)
      /// With the number of their operands: a chain is one condition of many parts.
      case and(Int), or(Int)
      case comparison(ComparisonOperator, ComparisonOptions)
      case satisfies
      case arithmetic(ArithmeticOperator)
    }

    var kind: Kind
    var offset: Int
  }

  enum Group {
    case parenthesis
    /// With the number of elements before the current one.
    case list(Int)
    case aggregate(AggregateFunction)
    /// `AND(x)` and `OR(x)`.
    case single(isAnd: Bool)
  }

  enum QuantifierWord: String {
    case any = "ANY"
    case some = "SOME"
    case all = "ALL"
    case notAny = "NONE"
  }

  var lexer: FormatLexer
  var arguments: FormatArguments
  /// The next token.
  var token: FormatToken
  var operands: [Operand] = []
  var pending: [Pending] = []
  var openGroups = 0
  var nodes = 0

  init(_ format: String, _ arguments: FormatArguments) throws(PredicateFormatError) {
    guard format.utf8.count <= FormatLimits.bytesMax else {
      throw PredicateFormatError(
        message: "the format has \(format.utf8.count) bytes, at most "
          + "\(FormatLimits.bytesMax) are read; pass long lists as arguments",
        offset: 0, format: format)
    }
    lexer = FormatLexer(format)
    self.arguments = arguments
    token = try lexer.next()
  }

  /// Reads the whole format.
  mutating func parse() throws(PredicateFormatError) -> Operand {
    repeat {
      while try !readOperand() {}
    } while try readOperator()
    guard arguments.areUsedUp else {
      throw failure(
        "\(arguments.count) arguments for \(arguments.used) specifiers; leave out what is not used")
    }
    // Every operator and group was taken off and left one operand for those it took.
    return operands[0]
  }

  /// Reads on behind an operand: closes groups until an operator or a comma asks for the next one.
  ///
  /// - Returns: `false` at the end.
  private mutating func readOperator() throws(PredicateFormatError) -> Bool {
    while true {
      switch token.kind {
      case .end:
        try reduceToGroup()
        guard let group = pending.last else { return false }
        throw failure("the group that opens at byte \(group.offset) has no end; close it")
      case .symbol(.closeParenthesis), .symbol(.closeBrace):
        try closeGroup()
      case .symbol(.comma):
        try readComma()
        return true
      default:
        try readInfix()
        return true
      }
    }
  }

  private mutating func readComma() throws(PredicateFormatError) {
    try reduceToGroup()
    guard case .open(.list(let count)) = pending.last?.kind else {
      throw failure("a comma belongs between the elements of a list: {1, 2}")
    }
    pending[pending.count - 1].kind = .open(.list(count + 1))
    try advance()
  }

  private mutating func readInfix() throws(PredicateFormatError) {
    let offset = token.offset
    guard var kind = infix(token) else { throw expectedOperator() }
    try advance()
    if case .comparison(let comparison, _) = kind {
      kind = .comparison(comparison, try readOptions())
    }
    try reduce(from: kind.precedence + 1)
    switch (kind, pending.last?.kind) {
    // A longer chain of AND or OR is the same condition with one part more.
    case (.and, .and(let count)?): pending[pending.count - 1].kind = .and(count + 1)
    case (.or, .or(let count)?): pending[pending.count - 1].kind = .or(count + 1)
    default:
      try reduce(from: kind.precedence)
      try wait(kind, at: offset)
    }
  }

  private func expectedOperator() -> PredicateFormatError {
    switch token.kind {
    case .word(let word) where ReservedWord(word) == .not:
      failure("NOT stands before the whole comparison: NOT x IN y")
    case .symbol(.dot): failure("a dot follows an attribute's name only")
    case .symbol(.openBracket): failure("brackets follow a path, tags[SIZE], or an operator, ==[c]")
    default: failure("expected an operator, AND, OR or the end, found \(found)")
    }
  }
}

// MARK: - Tokens

extension FormatParser {
  mutating func advance() throws(PredicateFormatError) { token = try lexer.next() }

  /// Takes the next token.
  mutating func take() throws(PredicateFormatError) -> FormatToken {
    let taken = token
    try advance()
    return taken
  }

  /// Passes over a symbol if it comes next.
  mutating func skip(_ symbol: FormatSymbol) throws(PredicateFormatError) -> Bool {
    guard token.kind == .symbol(symbol) else { return false }
    try advance()
    return true
  }

  /// The next token as a message has it.
  var found: String { lexer.excerpt(token) }

  func failure(_ message: String, at offset: Int? = nil) -> PredicateFormatError {
    lexer.failure(message, at: offset ?? token.offset)
  }
}

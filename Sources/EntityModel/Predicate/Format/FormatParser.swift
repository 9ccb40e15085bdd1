/// Parses a format string into a tree. It is an operator-precedence parser with its own stack, so
/// that deeply nested texts do not use up the thread's stack.
///
/// A parenthesis may contain a condition or a value, and only its content shows which. So both are
/// operands here, and an operator checks the kind of its operands when it takes them. The
/// precedence, from the lowest: `OR`, `AND`, `NOT`, `ANY ALL NONE`, comparisons and `SATISFIES`,
/// `+ -`, `* /`, `**`, the sign.
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
    /// The offset at which its text begins.
    var offset: Int
    /// The number of levels of its tree.
    var height: Int
  }

  /// An operator or an open parenthesis whose last operand is not complete.
  struct Pending {
    enum Kind {
      case open(Group)
      case not, negative
      case quantifier(QuantifierWord)
      /// The number of operands: a chain is one condition of many parts.
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
    /// A list, with the number of elements before the current one.
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
    // Every operator and group has been removed, and one operand is left.
    return operands[0]
  }

  /// Reads the tokens after an operand: closes groups until an operator or a comma demands an
  /// operand.
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
    // A longer chain of AND or OR is the same condition with one more part.
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

  /// Consumes the next token and returns it.
  mutating func take() throws(PredicateFormatError) -> FormatToken {
    let taken = token
    try advance()
    return taken
  }

  /// Consumes a symbol if it comes next. Returns true if it did.
  mutating func skip(_ symbol: FormatSymbol) throws(PredicateFormatError) -> Bool {
    guard token.kind == .symbol(symbol) else { return false }
    try advance()
    return true
  }

  /// The next token, for a message.
  var found: String { lexer.excerpt(token) }

  func failure(_ message: String, at offset: Int? = nil) -> PredicateFormatError {
    lexer.failure(message, at: offset ?? token.offset)
  }
}

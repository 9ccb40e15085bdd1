/// A part of a format string: its kind and its place.
struct FormatToken {
  enum Kind: Hashable {
    /// A name, a reserved word, or a function: the parser decides by the token that follows.
    case word(String)
    /// `#name` or `#"any text"`: always a name.
    case name(String)
    /// `$NAME` or `$"any text"`.
    case variable(String)
    /// `@count`, in a path.
    case collectionFunction(String)
    case text(String)
    /// Digits without a sign.
    case number(String)
    case specifier(FormatSpecifier)
    case symbol(FormatSymbol)
    case end
  }

  var kind: Kind
  /// The offset of the first byte, and of the byte after the last one.
  var offset: Int
  var end: Int
}

/// The symbols without letters and digits. A symbol is listed before those that it begins with.
enum FormatSymbol: String, CaseIterable {
  case equalEqual = "=="
  case notEqual = "!="
  case lessGreater = "<>"
  case lessEqual = "<="
  case equalLess = "=<"
  case greaterEqual = ">="
  case equalGreater = "=>"
  case and = "&&"
  case or = "||"
  case power = "**"
  case equal = "="
  case less = "<"
  case greater = ">"
  case exclamation = "!"
  case plus = "+"
  case minus = "-"
  case asterisk = "*"
  case slash = "/"
  case openParenthesis = "("
  case closeParenthesis = ")"
  case openBrace = "{"
  case closeBrace = "}"
  case openBracket = "["
  case closeBracket = "]"
  case comma = ","
  case dot = "."
  case colon = ":"
}

/// The specifiers that stand for an argument. A specifier is listed before those that it begins
/// with.
enum FormatSpecifier: String, CaseIterable {
  case longLong = "lld"
  case long = "ld"
  case unsigned = "lu"
  case any = "@"
  case keyPath = "K"
  case integer = "i"
  case decimalInteger = "d"
  case double = "f"
  case text = "s"
}

/// The words that are attribute names only after a `#` or a dot.
enum ReservedWord: String, CaseIterable {
  case and, or, not
  case any, all, none, some
  case isIn = "in"
  case between, like, matches, contains, beginsWith = "beginswith", endsWith = "endswith"
  case null, nilWord = "nil"
  case trueWord = "true"
  case falseWord = "false"
  case yes, no
  case truePredicate = "truepredicate"
  case falsePredicate = "falsepredicate"
  case itself = "self"

  /// Finds the word in upper or lower case, in ASCII only.
  init?(_ word: String) { self.init(rawValue: word.asciiLowercased) }
}

extension String {
  /// The text in lower case, for ASCII letters only: `ſ` and the Kelvin sign are not S and K.
  var asciiLowercased: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { ("A"..."Z").contains($0) ? Unicode.Scalar($0.value + 32) ?? $0 : $0 }))
  }

  /// True for a text that a path may contain without a mark: letters, digits and `_`, no digit
  /// first.
  var isFormatName: Bool {
    guard let first = unicodeScalars.first else { return false }
    return first.startsFormatName && unicodeScalars.allSatisfy(\.continuesFormatName)
  }
}

extension Unicode.Scalar {
  var startsFormatName: Bool {
    isASCII ? properties.isAlphabetic || self == "_" : properties.isXIDStart
  }

  var continuesFormatName: Bool {
    isASCII ? startsFormatName || ("0"..."9").contains(self) : properties.isXIDContinue
  }
}

/// The bounds of a format string. They protect against hostile texts and are far above what people
/// write.
enum FormatLimits {
  static let bytesMax = 1 << 20
  /// The greatest number of open parentheses and braces, and of levels of the tree. Printing,
  /// comparing and destroying a tree are recursive, so this bounds the use of the stack.
  static let nestingMax = 200
  /// The greatest number of parts of the tree.
  static let nodesMax = 100_000
}

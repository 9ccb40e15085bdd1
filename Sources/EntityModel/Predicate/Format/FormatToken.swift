/// A part of a format string: what it is and where it stands.
struct FormatToken {
  enum Kind: Hashable {
    /// A name, a reserved word, or a function: the parser decides by what follows.
    case word(String)
    /// `#name` or `#"any text"`: a name whatever it looks like.
    case name(String)
    /// `$NAME` or `$"any text"`.
    case variable(String)
    /// `@count`, in a path.
    case collectionFunction(String)
    case text(String)
    /// Digits as they stand, without a sign.
    case number(String)
    case specifier(FormatSpecifier)
    case symbol(FormatSymbol)
    case end
  }

  var kind: Kind
  /// The first byte, and the one after the last.
  var offset: Int
  var end: Int
}

/// Everything that is not made of letters or digits, the longer before its beginning.
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

/// What stands for an argument, the longer before its beginning.
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

/// The words that are no attribute names, unless a `#` or a dot stands before them.
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

  /// The word in any case of its letters, which are ASCII.
  init?(_ word: String) { self.init(rawValue: word.asciiLowercased) }
}

extension String {
  /// In small letters, but only those of ASCII: `ſ` and the Kelvin sign are not S and K.
  var asciiLowercased: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { ("A"..."Z").contains($0) ? Unicode.Scalar($0.value + 32) ?? $0 : $0 }))
  }

  /// Whether a path may hold it as it is: letters, digits and `_`, no digit first.
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

/// The bounds of a format string. Each stops a hostile text; none is near what people write.
enum FormatLimits {
  static let bytesMax = 1 << 20
  /// Open parentheses and braces, and levels of the tree. What walks a tree (printing, comparing,
  /// destroying) does so by recursion, so this bounds the stack.
  static let nestingMax = 200
  /// Parts of the tree.
  static let nodesMax = 100_000
}

/// The syntax tree of a pattern.
indirect enum IRegexpNode {
  case empty
  /// `scalar`, `any`, `set`, `start` or `end`.
  case single(IRegexpInstruction)
  case sequence([IRegexpNode])
  case choice([IRegexpNode])
  /// A repetition; unbounded without `max`.
  case repetition(IRegexpNode, min: Int, max: Int?)
}

/// Reads a pattern by the grammar of RFC 9485 section 3.
struct IRegexpParser {
  private let scalars: [Unicode.Scalar]
  private var offset = 0
  private var nesting = 0

  init(_ pattern: String) throws(IRegexpError) {
    guard pattern.utf8.count <= IRegexp.scalarsMax * 4 else { throw .tooLarge }
    scalars = Array(pattern.unicodeScalars)
    guard scalars.count <= IRegexp.scalarsMax else { throw .tooLarge }
  }

  mutating func parse() throws(IRegexpError) -> IRegexpNode {
    let node = try branches()
    guard offset == scalars.count else { throw expected("an open ( for this )") }
    return node
  }

  private var upcoming: Unicode.Scalar? { offset < scalars.count ? scalars[offset] : nil }

  private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard upcoming == scalar else { return false }
    offset += 1
    return true
  }

  private func expected(_ what: String) -> IRegexpError { .expected(what, at: offset) }

  private mutating func branches() throws(IRegexpError) -> IRegexpNode {
    var branches = [try branch()]
    while skip("|") { branches.append(try branch()) }
    return branches.count == 1 ? branches[0] : .choice(branches)
  }

  private mutating func branch() throws(IRegexpError) -> IRegexpNode {
    var pieces: [IRegexpNode] = []
    while let scalar = upcoming, scalar != "|", scalar != ")" {
      pieces.append(try quantified(try atom(isFirst: pieces.isEmpty)))
    }
    return pieces.count == 1 ? pieces[0] : pieces.isEmpty ? .empty : .sequence(pieces)
  }

  private mutating func atom(isFirst: Bool) throws(IRegexpError) -> IRegexpNode {
    guard let scalar = upcoming else { throw expected("a character") }
    switch scalar {
    case "(":
      return try group()
    case "[":
      return .single(.set(try set()))
    case "\\":
      return .single(try escape())
    case ".":
      offset += 1
      return .single(.any)
    case "*", "+", "?", "{":
      throw expected("something to repeat")
    case "]", "}":
      throw expected("a backslash before \(scalar)")
    default:
      offset += 1
      // A quantifier makes it a plain character.
      let isRepeated = upcoming.map { "*+?{".unicodeScalars.contains($0) } ?? false
      if scalar == "^", isFirst, !isRepeated { return .single(.start) }
      if scalar == "$", upcoming == nil || upcoming == "|" || upcoming == ")" {
        return .single(.end)
      }
      return .single(.scalar(scalar))
    }
  }

  private mutating func group() throws(IRegexpError) -> IRegexpNode {
    guard nesting < IRegexp.nestingMax else {
      throw IRegexpError(
        isTooLarge: true, description: "groups nest at most \(IRegexp.nestingMax) deep")
    }
    nesting += 1
    defer { nesting -= 1 }
    offset += 1
    let node = try branches()
    guard skip(")") else { throw expected(")") }
    return node
  }

  private mutating func quantified(_ atom: IRegexpNode) throws(IRegexpError) -> IRegexpNode {
    if skip("*") { return .repetition(atom, min: 0, max: nil) }
    if skip("+") { return .repetition(atom, min: 1, max: nil) }
    if skip("?") { return .repetition(atom, min: 0, max: 1) }
    guard skip("{") else { return atom }
    let min = try count()
    var max: Int? = min
    if skip(",") { max = upcoming == "}" ? nil : try count() }
    guard max ?? min >= min else { throw expected("a second count of \(min) or more") }
    guard skip("}") else { throw expected("}") }
    return .repetition(atom, min: min, max: max)
  }

  private mutating func count() throws(IRegexpError) -> Int {
    let start = offset
    var count = 0
    while let scalar = upcoming, ("0"..."9").contains(scalar) {
      offset += 1
      count = count * 10 + Int(scalar.value - 0x30)
      guard count <= IRegexp.sizeMax else { throw .tooLarge }
    }
    guard offset > start else { throw expected("a count") }
    return count
  }
}

/// Escapes and classes.
extension IRegexpParser {
  private mutating func escape() throws(IRegexpError) -> IRegexpInstruction {
    if let categories = try categoryEscape() { return .set(IRegexpSet(categories: categories)) }
    return .scalar(try singleEscape())
  }

  /// Reads `\p{Lu}` or `\P{Lu}`; returns nil if neither comes next.
  private mutating func categoryEscape() throws(IRegexpError) -> Set<Unicode.GeneralCategory>? {
    guard offset + 1 < scalars.count, scalars[offset] == "\\",
      scalars[offset + 1] == "p" || scalars[offset + 1] == "P"
    else { return nil }
    let isComplement = scalars[offset + 1] == "P"
    offset += 2
    guard skip("{") else { throw expected("{") }
    var name = ""
    while let scalar = upcoming, scalar != "}", name.unicodeScalars.count < 3 {
      name.unicodeScalars.append(scalar)
      offset += 1
    }
    guard let categories = IRegexpSet.categories(named: name) else {
      throw expected("a Unicode category such as L or Lu")
    }
    guard skip("}") else { throw expected("}") }
    return isComplement ? IRegexpSet.allCategories.subtracting(categories) : categories
  }

  private mutating func singleEscape() throws(IRegexpError) -> Unicode.Scalar {
    offset += 1
    guard let scalar = upcoming else { throw expected("the escaped character") }
    offset += 1
    switch scalar {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "("..."+", "-", ".", "?", "["..."^", "{"..."}": return scalar
    default:
      offset -= 1
      throw expected("one of ( ) * + - . ? [ \\ ] ^ { | } n r t p P")
    }
  }

  private mutating func set() throws(IRegexpError) -> IRegexpSet {
    offset += 1
    let isNegated = skip("^")
    var ranges: [ClosedRange<UInt32>] = []
    var categories: Set<Unicode.GeneralCategory> = []
    if skip("-") { ranges.append(0x2D...0x2D) }
    while upcoming != "]" {
      if upcoming == "-" {
        offset += 1
        guard upcoming == "]" else { throw expected("], as a bare - is first or last") }
        ranges.append(0x2D...0x2D)
      } else if let named = try categoryEscape() {
        categories.formUnion(named)
      } else {
        ranges.append(try range())
      }
    }
    guard !ranges.isEmpty || !categories.isEmpty else { throw expected("a character") }
    offset += 1
    return IRegexpSet(ranges: ranges, categories: categories, isNegated: isNegated)
  }

  /// `a` or `a-z`.
  private mutating func range() throws(IRegexpError) -> ClosedRange<UInt32> {
    let first = try setCharacter()
    guard upcoming == "-", offset + 1 < scalars.count, scalars[offset + 1] != "]" else {
      return first.value...first.value
    }
    offset += 1
    let last = try setCharacter()
    guard first <= last else { throw expected("a range from lower to higher") }
    return first.value...last.value
  }

  private mutating func setCharacter() throws(IRegexpError) -> Unicode.Scalar {
    guard let scalar = upcoming else { throw expected("]") }
    switch scalar {
    case "\\": return try singleEscape()
    case "[", "-": throw expected("a backslash before \(scalar)")
    case "]": throw expected("a character")
    default:
      offset += 1
      return scalar
    }
  }
}

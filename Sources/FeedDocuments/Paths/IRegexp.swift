/// A pattern of RFC 9485 (I-Regexp), the dialect of JSONPath's `match` and `search`.
///
/// Matching takes time that grows with the text times the pattern, whatever both are: all ways
/// through the pattern are followed at once (Thompson, 1968), character after character.
///
/// One thing is taken as the conformance suite of JSONPath has it rather than as RFC 9485 does: `^`
/// at the beginning of a branch and `$` at its end stand for the text's ends. Elsewhere both are
/// characters.
struct IRegexp: Sendable {
  /// Unicode scalars of a pattern.
  static let scalarsMax = 4_096
  /// Groups inside each other.
  static let nestingMax = 32
  /// Instructions of the compiled pattern; a quantifier such as `{2,5}` repeats what it is about.
  static let sizeMax = 10_000

  private let program: [IRegexpInstruction]

  /// Compiles the pattern. O(length and size).
  ///
  /// - Throws: Where it is no I-Regexp, or why it is too large.
  init(_ pattern: String) throws(IRegexpError) {
    var parser = try IRegexpParser(pattern)
    program = try IRegexpCompiler.program(of: try parser.parse())
  }

  /// Instructions of the compiled pattern.
  var size: Int { program.count }

  /// Whether the pattern matches the whole text, or otherwise any part of it.
  ///
  /// - Parameter charge: Gets the steps as they are taken, and may throw to end it.
  func matches<Failure: Error>(
    _ text: String.UnicodeScalarView, isWhole: Bool, charge: (Int) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    try charge(1 + program.count / 16)
    var threads = IRegexpThreads(program: program)
    var scalars = text.makeIterator()
    var upcoming = scalars.next()
    var isAtStart = true
    var pending = [0]
    while true {
      if !isWhole, !isAtStart { pending.append(0) }
      let isAccepted = threads.spread(pending, isAtStart: isAtStart, isAtEnd: upcoming == nil)
      try charge(1 + threads.steps)
      if isAccepted, !isWhole || upcoming == nil { return true }
      guard let scalar = upcoming, !isWhole || !threads.waiting.isEmpty else { return false }
      pending = threads.waiting.filter { program[$0].takes(scalar) }.map { $0 + 1 }
      upcoming = scalars.next()
      isAtStart = false
    }
  }
}

/// One step of a compiled pattern. Those that take a character go on with the next instruction.
enum IRegexpInstruction: Sendable {
  case scalar(Unicode.Scalar)
  /// Any but the ends of a line.
  case any
  case set(IRegexpSet)
  case start
  case end
  /// Goes on in both places.
  case split(Int, Int)
  case jump(Int)
  case accept

  func takes(_ scalar: Unicode.Scalar) -> Bool {
    switch self {
    case .scalar(let wanted): wanted == scalar
    case .any: scalar != "\n" && scalar != "\r"
    case .set(let set): set.contains(scalar)
    case .start, .end, .split, .jump, .accept: false
    }
  }
}

/// The places in a program that are reached at one place of the text.
private struct IRegexpThreads {
  /// Instructions that wait for a character.
  private(set) var waiting: [Int] = []
  /// Instructions looked at in the last `spread`.
  private(set) var steps = 0

  private let program: [IRegexpInstruction]
  /// For each instruction the last round in which it was reached.
  private var reached: [Int]
  private var round = 0

  init(program: [IRegexpInstruction]) {
    self.program = program
    reached = Array(repeating: 0, count: program.count)
  }

  /// Goes on from `places` as far as no character is needed. Each instruction is reached once, so
  /// that loops around nothing end. Returns whether the pattern is through.
  mutating func spread(_ places: [Int], isAtStart: Bool, isAtEnd: Bool) -> Bool {
    waiting.removeAll(keepingCapacity: true)
    round += 1
    steps = 0
    var isAccepted = false
    var stack = places
    while let place = stack.popLast() {
      guard reached[place] != round else { continue }
      reached[place] = round
      steps += 1
      switch program[place] {
      case .split(let first, let second): stack += [second, first]
      case .jump(let target): stack.append(target)
      case .start: if isAtStart { stack.append(place + 1) }
      case .end: if isAtEnd { stack.append(place + 1) }
      case .accept: isAccepted = true
      case .scalar, .any, .set: waiting.append(place)
      }
    }
    return isAccepted
  }
}

/// Why a text is not used as an I-Regexp.
struct IRegexpError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Whether it is one, but larger than patterns may be.
  var isTooLarge = false
  /// What is wrong, and where.
  var description: String

  static var tooLarge: IRegexpError {
    IRegexpError(
      isTooLarge: true,
      description: "a pattern has at most \(IRegexp.scalarsMax) characters and, its repetitions "
        + "written out, \(IRegexp.sizeMax) parts: shorten it")
  }

  static func expected(_ what: String, at place: Int) -> IRegexpError {
    IRegexpError(
      description:
        "the pattern is no I-Regexp (RFC 9485): expected \(what) (character \(place + 1))")
  }
}

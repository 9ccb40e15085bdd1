/// A pattern of RFC 9485 (I-Regexp), the dialect of JSONPath's `match` and `search`.
///
/// Matching takes time proportional to the text times the pattern, for every text and pattern: all
/// states of the pattern are followed at once (Thompson, 1968), character by character. That is the
/// reason for an engine of its own, because a document may supply the pattern, and backtracking
/// engines such as ICU's need exponential time for some.
///
/// In one respect the conformance suite of JSONPath is followed rather than RFC 9485: `^` at the
/// beginning of a branch and `$` at its end match the ends of the text. Elsewhere both are
/// characters.
struct IRegexp: Sendable {
  /// The largest number of Unicode scalars in a pattern.
  static let scalarsMax = 4_096
  /// The deepest nesting of groups.
  static let nestingMax = 32
  /// The largest number of instructions; a quantifier such as `{2,5}` repeats those of its operand.
  static let sizeMax = 10_000

  private let program: [IRegexpInstruction]

  /// Compiles the pattern. O(length and size).
  ///
  /// - Throws: The place at which it is no I-Regexp, or the reason why it is too large.
  init(_ pattern: String) throws(IRegexpError) {
    var parser = try IRegexpParser(pattern)
    program = try IRegexpCompiler.program(of: try parser.parse())
  }

  /// The number of instructions of the compiled pattern.
  var size: Int { program.count }

  /// Returns true if the pattern matches the whole text or, unless `isWhole`, any part of it.
  ///
  /// - Parameter charge: Called with the number of steps taken; may throw to stop the matching.
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

/// One instruction of a compiled pattern. After a character comes the next instruction.
enum IRegexpInstruction: Sendable {
  case scalar(Unicode.Scalar)
  /// Any character except line feed and carriage return.
  case any
  case set(IRegexpSet)
  case start
  case end
  /// Continues at both places.
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

/// The set of instructions that are reached at one position of the text.
private struct IRegexpThreads {
  /// Instructions that need a character.
  private(set) var waiting: [Int] = []
  /// The number of instructions visited by the last `spread`.
  private(set) var steps = 0

  private let program: [IRegexpInstruction]
  /// The last round in which each instruction was reached.
  private var reached: [Int]
  private var round = 0

  init(program: [IRegexpInstruction]) {
    self.program = program
    reached = Array(repeating: 0, count: program.count)
  }

  /// Follows the instructions from `places` until each needs a character. Each instruction is
  /// visited once, so empty loops end. Returns true if the pattern is accepted.
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

/// The reason why a text is not used as an I-Regexp.
struct IRegexpError: Error, Equatable, Sendable, CustomStringConvertible {
  /// True if the text exceeds a limit; false if it is no I-Regexp.
  var isTooLarge = false
  /// The mistake and its place.
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

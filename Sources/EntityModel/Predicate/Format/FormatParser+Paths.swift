/// The parsing of key paths: `a.b.c`, `path.@sum.duration`, `tags[SIZE]`, `%K`.
extension FormatParser {
  /// Reads a path whose first step has been consumed.
  mutating func readPath(from first: FormatToken) throws(PredicateFormatError) -> FetchExpression {
    var path = FormatPath()
    var step = first
    while true {
      try append(step, to: &path)
      guard try skip(.dot) else { break }
      step = try take()
    }
    if token.kind == .symbol(.openBracket) { try readIndex(&path) }
    return path.expression
  }

  private mutating func append(
    _ step: FormatToken, to path: inout FormatPath
  ) throws(PredicateFormatError) {
    switch step.kind {
    case .word(let name):
      guard path.function != .count else { throw countIsLast(at: step.offset) }
      path.append(name)
    case .name(let name): path.append(name)
    case .collectionFunction(let name): try append(function: name, to: &path, at: step.offset)
    case .specifier(.keyPath): try appendArgument(to: &path, step)
    default:
      throw failure(
        "expected the name of an attribute, found \(lexer.excerpt(step))", at: step.offset)
    }
  }

  private func append(
    function name: String, to path: inout FormatPath, at offset: Int
  ) throws(PredicateFormatError) {
    guard let function = CollectionFunction(rawValue: name.asciiLowercased) else {
      throw failure(
        "unknown function @\(name); use @count, @sum, @avg, @min or @max", at: offset)
    }
    guard !path.isEmpty else {
      throw failure("@\(name) stands behind a path: episodes.@\(name)", at: offset)
    }
    guard path.function != .count else { throw countIsLast(at: offset) }
    guard path.function == nil else {
      throw failure("a path has one function; leave out @\(name)", at: offset)
    }
    path.function = function
  }

  /// Appends the argument of `%K`: a text of names and functions, or a path, which is taken
  /// unchanged.
  private mutating func appendArgument(
    to path: inout FormatPath, _ step: FormatToken
  ) throws(PredicateFormatError) {
    let argument = try arguments.next(.keyPath) { (message) in
      lexer.failure(message, at: step.offset)
    }
    guard case .value(.string(let text)) = argument else {
      if case .path(let text) = argument { path.append(text) }
      return
    }
    for part in text.split(separator: ".", omittingEmptySubsequences: false) {
      if part.first == "@" {
        try append(function: String(part.dropFirst()), to: &path, at: step.offset)
      } else if String(part).isFormatName {
        guard path.function != .count else { throw countIsLast(at: step.offset) }
        path.append(String(part))
      } else {
        throw failure(
          "the argument of %K is no key path such as title or path.title; check its names",
          at: step.offset)
      }
    }
  }

  /// Reads `[SIZE]`, which means `.@count`.
  private mutating func readIndex(_ path: inout FormatPath) throws(PredicateFormatError) {
    let open = try take()
    guard case .word(let word) = token.kind, word.asciiLowercased == "size" else {
      throw failure(
        "the elements of a list have no index here, found [\(lexer.text(token))]; write [SIZE] for "
          + "their number, or ANY and ALL for what they are", at: open.offset)
    }
    guard path.function == nil else {
      throw failure("a path has one function; leave out [SIZE]", at: open.offset)
    }
    try advance()
    guard try skip(.closeBracket) else { throw failure("expected ] after SIZE, found \(found)") }
    guard token.kind != .symbol(.dot) else { throw countIsLast(at: token.offset) }
    path.function = .count
  }

  private func countIsLast(at offset: Int) -> PredicateFormatError {
    failure("a count is the last part of a path; nothing follows @count", at: offset)
  }
}

/// The part of a path that has been read.
struct FormatPath {
  private var names: [String] = []
  private var rest: [String] = []
  var function: CollectionFunction?

  var isEmpty: Bool { names.isEmpty }

  mutating func append(_ name: String) {
    if function == nil { names.append(name) } else { rest.append(name) }
  }

  var expression: FetchExpression {
    let path = names.joined(separator: ".")
    guard let function else { return .path(path) }
    return .collection(path, function, rest.isEmpty ? nil : rest.joined(separator: "."))
  }
}

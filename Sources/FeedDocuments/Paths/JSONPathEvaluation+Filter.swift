/// Evaluates conditions and the values that they compare.
extension JSONPathEvaluation {
  func holds(_ condition: JSONPath.Condition, at node: JSONValue) throws(JSONPathError) -> Bool {
    try charge(1)
    switch condition {
    case .any(let conditions):
      for condition in conditions where try holds(condition, at: node) { return true }
      return false
    case .all(let conditions):
      for condition in conditions where try !holds(condition, at: node) { return false }
      return true
    case .not(let condition):
      return try !holds(condition, at: node)
    case .exists(let query):
      return try !run(query, at: node) { _ in false }
    case .comparison(let left, let comparison, let right):
      return try withValue(of: left, at: node) { left throws(JSONPathError) in
        try withValue(of: right, at: node) { right throws(JSONPathError) in
          try compare(left, comparison, right)
        }
      }
    case .match(let subject, let pattern, let isWhole):
      return try withValue(of: subject, at: node) { subject throws(JSONPathError) in
        guard case .string(let text) = subject else { return false }
        return try matches(text, pattern, isWhole: isWhole, at: node)
      }
    }
  }

  /// Calls `body` with the operand's value.
  private func withValue(
    of operand: JSONPath.Operand, at node: JSONValue,
    _ body: (JSONComparand) throws(JSONPathError) -> Bool
  ) throws(JSONPathError) -> Bool {
    switch operand {
    case .literal(let literal):
      return try withValue(of: literal, body)
    case .query(let query):
      return try body(JSONComparand(try single(query, at: node)))
    case .value(let query):
      var found: JSONValue?
      let isOne = try run(query, at: node) { node in
        defer { found = node }
        return found == nil
      }
      return try body(isOne ? JSONComparand(found) : .nothing)
    case .count(let query):
      var count: Int64 = 0
      _ = try run(query, at: node) { _ in
        count += 1
        return true
      }
      return try body(.number(.integer(count)))
    case .length(let operand):
      return try withValue(of: operand, at: node) { value throws(JSONPathError) in
        try body(try length(of: value))
      }
    }
  }

  private func withValue(
    of literal: JSONPath.Literal, _ body: (JSONComparand) throws(JSONPathError) -> Bool
  ) throws(JSONPathError) -> Bool {
    switch literal {
    case .null:
      return try body(.null)
    case .bool(let bool):
      return try body(.bool(bool))
    case .integer(let integer):
      return try body(.number(.integer(integer)))
    case .number(let text, let nearest):
      return try text.withUnsafeBufferPointer { bytes throws(JSONPathError) in
        try body(.number(.written(UnsafeRawBufferPointer(bytes), nearest: nearest)))
      }
    case .string(let text):
      return try text.withUnsafeBufferPointer { bytes throws(JSONPathError) in
        try body(.string(UnsafeRawBufferPointer(bytes)))
      }
    }
  }

  /// Returns the node that a singular query selects.
  private func single(
    _ query: JSONPath.Query, at node: JSONValue
  ) throws(JSONPathError) -> JSONValue? {
    var found = query.isAbsolute ? root : node
    for segment in query.segments {
      try charge(1)
      switch segment.selectors[0] {
      case .name(let name):
        guard let (_, value) = try member(name, of: found) else { return nil }
        found = value
      case .index(let index):
        guard let (_, element) = try element(index, of: found) else { return nil }
        found = element
      case .wildcard, .slice, .filter:
        return nil
      }
    }
    return found
  }

  /// Returns the number of Unicode scalars, elements or members.
  private func length(of value: JSONComparand) throws(JSONPathError) -> JSONComparand {
    switch value {
    case .string(let text):
      try charge(text.count / 64)
      // Every scalar has one byte that is no continuation byte.
      return .number(.integer(Int64(text.count { $0 & 0xC0 != 0x80 })))
    case .container(let container):
      return .number(.integer(Int64(container.count)))
    case .nothing, .null, .bool, .number:
      return .nothing
    }
  }

  private func matches(
    _ text: UnsafeRawBufferPointer, _ pattern: JSONPath.Pattern, isWhole: Bool,
    at node: JSONValue
  ) throws(JSONPathError) -> Bool {
    switch pattern {
    case .fixed(let pattern):
      return try matches(text, pattern, isWhole: isWhole)
    case .computed(let operand):
      return try withValue(of: operand, at: node) { value throws(JSONPathError) in
        guard case .string(let source) = value else { return false }
        let pattern = try patterns.pattern(source) { steps throws(JSONPathError) in
          try charge(steps)
        }
        return try matches(text, pattern, isWhole: isWhole)
      }
    }
  }

  private func matches(
    _ text: UnsafeRawBufferPointer, _ pattern: IRegexp?, isWhole: Bool
  ) throws(JSONPathError) -> Bool {
    guard let pattern else { return false }
    try charge(text.count / 64)
    let scalars = String(decoding: text, as: UTF8.self).unicodeScalars
    return try pattern.matches(scalars, isWhole: isWhole) { steps throws(JSONPathError) in
      try charge(steps)
    }
  }
}

/// Caches the last pattern that the document has supplied, because the next is mostly the same.
struct JSONPathPatterns {
  private var source: [UInt8]?
  private var compiled: IRegexp?

  /// Returns the compiled pattern, or nil if the text is no I-Regexp.
  mutating func pattern(
    _ text: UnsafeRawBufferPointer, charge: (Int) throws(JSONPathError) -> Void
  ) throws(JSONPathError) -> IRegexp? {
    try charge(text.count / 64)
    if let source, source.elementsEqual(text) { return compiled }
    // A pattern that is too long is refused before it is read.
    try charge(min(text.count, IRegexp.scalarsMax * 4) + 1)
    let pattern = try compile(text)
    try charge(pattern?.size ?? 0)
    (source, compiled) = (Array(text), pattern)
    return pattern
  }

  private func compile(_ text: UnsafeRawBufferPointer) throws(JSONPathError) -> IRegexp? {
    do throws(IRegexpError) {
      guard text.count <= IRegexp.scalarsMax * 4 else { throw IRegexpError.tooLarge }
      return try IRegexp(String(decoding: text, as: UTF8.self))
    } catch {
      guard error.isTooLarge else { return nil }
      throw JSONPathError(.tooMuchWork, "a pattern in the document is too large: \(error)")
    }
  }
}

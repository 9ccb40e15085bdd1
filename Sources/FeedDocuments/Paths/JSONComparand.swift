import Glibc

/// A value that a filter compares. It refers to the document or to the expression.
enum JSONComparand {
  /// No value at all, which equals only itself.
  case nothing
  case null
  case bool(Bool)
  case number(JSONNumber)
  /// UTF-8.
  case string(UnsafeRawBufferPointer)
  case container(JSONValue)

  init(_ value: JSONValue?) {
    guard let value else {
      self = .nothing
      return
    }
    switch value.kind {
    case .null: self = .null
    case .bool: self = .bool(value.bool ?? false)
    case .int64, .double, .unrepresentable: self = .number(JSONNumber(value))
    case .string: self = .string(value.textBytes)
    case .array, .object: self = .container(value)
    }
  }
}

/// The comparisons of RFC 9535 section 2.3.5.2.2.
extension JSONPathEvaluation {
  func compare(
    _ left: JSONComparand, _ comparison: JSONPath.Comparison, _ right: JSONComparand
  ) throws(JSONPathError) -> Bool {
    switch comparison {
    case .equal: return try areEqual(left, right)
    case .unequal: return try !areEqual(left, right)
    case .less: return try isLess(left, right)
    case .greater: return try isLess(right, left)
    case .lessOrEqual: return try areEqual(left, right) ? true : isLess(left, right)
    case .greaterOrEqual: return try areEqual(left, right) ? true : isLess(right, left)
    }
  }

  /// Compares numbers, or strings by their Unicode scalars, which is the order of their bytes in
  /// UTF-8. Other values have no order.
  private func isLess(_ left: JSONComparand, _ right: JSONComparand) throws(JSONPathError) -> Bool {
    switch (left, right) {
    case (.number(let left), .number(let right)):
      try charge(left.cost + right.cost)
      return JSONNumber.order(left, right) < 0
    case (.string(let left), .string(let right)):
      let order = try compareBytes(left, right, count: min(left.count, right.count))
      return order == 0 ? left.count < right.count : order < 0
    default:
      return false
    }
  }

  private func areEqual(
    _ left: JSONComparand, _ right: JSONComparand
  ) throws(JSONPathError) -> Bool {
    try charge(1)
    switch (left, right) {
    case (.nothing, .nothing), (.null, .null):
      return true
    case (.bool(let left), .bool(let right)):
      return left == right
    case (.number(let left), .number(let right)):
      try charge(left.cost + right.cost)
      return JSONNumber.order(left, right) == 0
    case (.string(let left), .string(let right)):
      guard left.count == right.count else { return false }
      return try compareBytes(left, right, count: left.count) == 0
    case (.container(let left), .container(let right)):
      return try left.kind == .array && right.kind == .array
        ? haveEqualElements(left, right) : haveEqualMembers(left, right)
    default:
      return false
    }
  }

  /// Compares arrays. The recursion is as deep as the value nests, which the parser limits.
  private func haveEqualElements(
    _ left: JSONValue, _ right: JSONValue
  ) throws(JSONPathError) -> Bool {
    guard left.count == right.count else { return false }
    for (left, right) in zip(left.elements, right.elements) {
      guard try areEqual(JSONComparand(left), JSONComparand(right)) else { return false }
    }
    return true
  }

  /// Returns true if both objects have the same names with equal values. If a name occurs twice,
  /// the last one wins.
  private func haveEqualMembers(
    _ left: JSONValue, _ right: JSONValue
  ) throws(JSONPathError) -> Bool {
    guard left.kind == .object, right.kind == .object else { return false }
    for (name, _) in left.members {
      try charge(left.count + right.count)
      guard let ours = left.member(named: name.textBytes)?.value,
        let theirs = right.member(named: name.textBytes)?.value,
        try areEqual(JSONComparand(ours), JSONComparand(theirs))
      else { return false }
    }
    for (name, _) in right.members {
      try charge(left.count)
      guard left.member(named: name.textBytes) != nil else { return false }
    }
    return true
  }

  private func compareBytes(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, count: Int
  ) throws(JSONPathError) -> Int32 {
    try charge(count / 64)
    guard count > 0, let left = left.baseAddress, let right = right.baseAddress else { return 0 }
    // SAFETY: both have at least `count` bytes, as the callers ensure.
    return memcmp(left, right, count)
  }
}

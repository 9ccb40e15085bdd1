/// Names that are taken in a schema; gives out others.
package struct TargetNames: Sendable {
  private static let lengthMax = 63
  private var taken: Set<String> = []

  package init() {}

  /// The name, or the first of name2, name3 … that is free.
  ///
  /// - Parameter name: Letters and digits of ASCII.
  /// - Parameter otherwise: What takes the place of an empty name, and stands before a digit.
  package mutating func free(_ name: String, otherwise: String) -> String {
    let isName = name.first.map { $0.isASCII && $0.isLetter } ?? false
    let base = isName ? name : otherwise + name
    var candidate = String(base.prefix(Self.lengthMax))
    var number = 2
    // Small and capital letters are told apart by a schema, and not by people.
    while !taken.insert(candidate.lowercased()).inserted {
      let suffix = String(number)
      candidate = base.prefix(Self.lengthMax - suffix.count) + suffix
      number += 1
    }
    return candidate
  }
}

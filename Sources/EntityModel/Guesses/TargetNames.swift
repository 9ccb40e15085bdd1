/// The names that are taken in a schema. It assigns names that are still free.
package struct TargetNames: Sendable {
  private static let lengthMax = 63
  private var taken: Set<String> = []

  package init() {}

  /// Returns true if nothing has the name, in upper or lower case.
  package func isFree(_ name: String) -> Bool { !taken.contains(name.lowercased()) }

  package mutating func take(_ name: String) { taken.insert(name.lowercased()) }

  /// Returns the name, or the first of name2, name3 … that is free, and marks it as taken.
  ///
  /// - Parameter name: ASCII letters and digits.
  /// - Parameter otherwise: The replacement for an empty name, and the prefix of one that begins
  ///   with a digit.
  package mutating func free(_ name: String, otherwise: String) -> String {
    let isName = name.first.map { $0.isASCII && $0.isLetter } ?? false
    let base = isName ? name : otherwise + name
    var candidate = String(base.prefix(Self.lengthMax))
    var number = 2
    // A schema distinguishes upper and lower case, but names that differ only in case confuse
    // people.
    while !taken.insert(candidate.lowercased()).inserted {
      let suffix = String(number)
      candidate = base.prefix(Self.lengthMax - suffix.count) + suffix
      number += 1
    }
    return candidate
  }
}

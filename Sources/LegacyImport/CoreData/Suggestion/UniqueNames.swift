/// Assigns names to entities, or to the properties of one entity, that migrations allow and that
/// are distinct.
struct UniqueNames: Sendable {
  private static let lengthMax = 63

  private var taken: Set<String> = []

  /// Returns a free name: the wanted one without characters that are not allowed, the fallback, or
  /// the first one with a number.
  mutating func claim(_ wanted: String, fallback: String? = nil, otherwise: String) -> String {
    let name = Self.sanitized(wanted) ?? otherwise
    if taken.insert(name).inserted { return name }
    if let fallback, let name = Self.sanitized(fallback), taken.insert(name).inserted {
      return name
    }
    var number = 2
    while true {
      let suffix = String(number)
      let numbered = String(name.prefix(Self.lengthMax - suffix.count)) + suffix
      if taken.insert(numbered).inserted { return numbered }
      number += 1
    }
  }

  /// Returns the name from its first letter on, with `_` for each character that is not allowed;
  /// `nil` if nothing is left.
  private static func sanitized(_ wanted: String) -> String? {
    let start = wanted.unicodeScalars.drop { !isLetter($0) }
    guard !start.isEmpty else { return nil }
    var name = ""
    for scalar in start.prefix(lengthMax) {
      let isAllowed = isLetter(scalar) || ("0"..."9").contains(scalar)
      name.unicodeScalars.append(isAllowed ? scalar : "_")
    }
    return name
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
  }
}

/// A set of member names that is compared with names in a document without making strings.
struct MemberNames: Sendable {
  private var names: [[UInt8]] = []

  init(_ names: some Sequence<String> = []) {
    for name in names { insert(name) }
  }

  mutating func insert(_ name: String) { insert(Array(name.utf8)) }

  private mutating func insert(_ name: [UInt8]) {
    if !names.contains(name) { names.append(name) }
  }

  /// O(names).
  func contains(_ name: JSONValue) -> Bool {
    let bytes = name.textBytes
    return names.contains { $0.count == bytes.count && $0.elementsEqual(bytes) }
  }
}

extension MemberNames {
  /// Inserts the members that a pointer or a path enters first; none if the text is neither, or if
  /// a path enters all of them.
  mutating func insert(firstOf text: String) {
    if let pointer = try? JSONPointer(text) {
      if let name = pointer.firstName { insert(name) }
    } else if let path = try? JSONPath(text) {
      for name in path.firstNames { insert(name) }
    }
  }
}

/// A set of member names that is compared with names in a document without making strings.
struct MemberNames: Sendable {
  private var names: [[UInt8]] = []

  init(_ names: some Sequence<String> = []) {
    for name in names { insert(name) }
  }

  mutating func insert(_ name: String) {
    let bytes = Array(name.utf8)
    if !names.contains(bytes) { names.append(bytes) }
  }

  /// O(names).
  func contains(_ name: JSONValue) -> Bool {
    let bytes = name.textBytes
    return names.contains { $0.count == bytes.count && $0.elementsEqual(bytes) }
  }
}

extension MemberNames {
  /// Inserts the member that a pointer or a path enters first; none if a path enters all of them.
  mutating func insert(firstOf text: String) {
    if text.hasPrefix("/") {
      let token = text.dropFirst().prefix { $0 != "/" }
      insert(String(token).replacing("~1", with: "/").replacing("~0", with: "~"))
    } else if text.hasPrefix("$.") {
      let name = text.dropFirst(2).prefix { $0 != "." && $0 != "[" }
      if !name.isEmpty, name != "*" { insert(String(name)) }
    } else if let quote = text.dropFirst(2).first, text.hasPrefix("$["), "'\"".contains(quote) {
      insert(String(text.dropFirst(3).prefix { $0 != quote }))
    }
  }
}

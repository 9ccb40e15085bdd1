/// The place of a node in a document: the names and indexes that lead to it from the root.
///
/// Valid only as long as the document's values.
struct JSONLocation {
  enum Step {
    case name(JSONValue)
    case index(Int)
  }

  var steps: [Step] = []

  /// The normalized path of RFC 9535 section 2.7, such as `$['items'][0]`.
  var normalizedPath: String {
    var path = "$"
    for step in steps {
      switch step {
      case .name(let name): path += "['\(escaped(name.text))']"
      case .index(let index): path += "[\(index)]"
      }
    }
    return path
  }

  /// The place as a JSON Pointer, such as `/items/0`.
  var pointer: JSONPointer {
    JSONPointer(
      tokens: steps.map { step in
        switch step {
        case .name(let name): name.text
        case .index(let index): "\(index)"
        }
      })
  }

  private func escaped(_ name: String) -> String {
    var escaped = ""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\u{8}": escaped += "\\b"
      case "\t": escaped += "\\t"
      case "\n": escaped += "\\n"
      case "\u{C}": escaped += "\\f"
      case "\r": escaped += "\\r"
      case "'": escaped += "\\'"
      case "\\": escaped += "\\\\"
      case "\0"..<" ":
        let digits = String(scalar.value, radix: 16)
        escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}

/// The children of a node, each with its name or index; none for a scalar.
struct JSONSteps: Sequence, IteratorProtocol {
  private enum Children {
    case elements(JSONChildren, next: Int)
    case members(JSONMembers)
  }

  private var children: Children

  init(of node: JSONValue) {
    children =
      node.kind == .object ? .members(node.members) : .elements(node.elements, next: 0)
  }

  mutating func next() -> (step: JSONLocation.Step, node: JSONValue)? {
    switch children {
    case .members(var members):
      guard let (name, value) = members.next() else { return nil }
      children = .members(members)
      return (.name(name), value)
    case .elements(var elements, let index):
      guard let element = elements.next() else { return nil }
      children = .elements(elements, next: index + 1)
      return (.index(index), element)
    }
  }
}

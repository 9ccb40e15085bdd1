@testable import FeedSync

/// What the expression selects in the text: each node as the text writes it.
func select(_ path: String, in text: String) throws -> [String] {
  let path = try JSONPath(path)
  return try withJSON(text) { root in try path.nodes(in: root).map(spelled) }
}

/// Why the expression is refused; nil if it is not.
func pathError(_ path: String) -> JSONPathError? {
  do {
    _ = try JSONPath(path)
    return nil
  } catch {
    return error
  }
}

private func spelled(_ value: JSONValue) -> String {
  value.kind == .string ? "\"\(value.text)\"" : value.text
}

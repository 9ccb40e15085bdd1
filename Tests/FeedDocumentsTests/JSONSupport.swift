import FeedTestSupport
import Foundation

@testable import FeedDocuments

/// Parses a complete text and passes its value to the closure.
func withJSON<Value>(
  _ text: String, _ body: (JSONValue) throws -> Value
) throws -> Value {
  let parser = try JSONParser()
  return try withPadding(Array(text.utf8)) { buffer throws(DocumentError) in
    try parser.withValue(buffer) { root in Result { try body(root) } }
  }.get()
}

/// A value as JSON: scalars as the document has them, members in the order of their names.
func canonical(_ value: JSONValue) -> String {
  switch value.kind {
  case .array: "[" + value.elements.map(canonical).joined(separator: ",") + "]"
  case .object:
    "{"
      + value.members.map { "\($0.name.text.debugDescription):\(canonical($0.value))" }.sorted()
      .joined(separator: ",") + "}"
  case .string: value.text.debugDescription
  default: value.text
  }
}

/// Returns the nodes that the expression selects, each as the text writes it.
func select(_ path: String, in text: String) throws -> [String] {
  let path = try JSONPath(path)
  return try withJSON(text) { root in try path.nodes(in: root).map(spelled) }
}

/// Returns the error of an expression that is refused; nil if it is accepted.
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

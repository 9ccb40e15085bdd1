import Foundation

@testable import FeedSync

/// Reads a whole text and lends its value.
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

/// Folders that lie beside the package.
enum SharedFolder {
  static func file(_ path: String) -> URL? {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let shared =
      ProcessInfo.processInfo.environment["MOORING_SHARED"].map { URL(filePath: $0) }
      ?? package.deletingLastPathComponent().appending(path: "shared")
    let file = shared.appending(path: path)
    return FileManager.default.fileExists(atPath: file.path) ? file : nil
  }
}

import Foundation
import Testing

@testable import FeedDocuments

/// A view as a tree for tests, parsed by the module's own JSON parser.
struct ReadView {
  var view: FeedView
  var root: [String: Any]

  init(
    _ bytes: [UInt8], contentType: String? = nil, base: String? = "http://example.org/feeds/a.xml"
  ) throws {
    view = try bytes.withUnsafeBytes {
      try FeedView.read($0, contentType: contentType, baseURL: base)
    }
    let parser = try JSONParser()
    root = try view.json.withUnsafeBytes { json in
      try parser.withDocument(json) { document throws(DocumentError) in
        for member in document.members {
          try document.withValue(of: member) { _ throws(DocumentError) in }
        }
      }
      let tree = try JSONSerialization.jsonObject(with: Data(json))
      return try #require(tree as? [String: Any])
    }
  }

  init(_ text: String, contentType: String? = nil) throws {
    try self.init(Array(text.utf8), contentType: contentType)
  }

  var items: [[String: Any]] { root["items"] as? [[String: Any]] ?? [] }

  /// The string at a path of members and positions, as `items.0.title`.
  subscript(path: String) -> String? { value(path) as? String }

  func number(_ path: String) -> Int? { (value(path) as? NSNumber)?.intValue }

  func value(_ path: String) -> Any? {
    var found: Any? = root
    for step in path.split(separator: "/") {
      if let index = Int(step), let list = found as? [Any] {
        found = index < list.count ? list[index] : nil
      } else {
        found = (found as? [String: Any])?[String(step)]
      }
    }
    return found
  }
}

/// The error of a document that is refused.
func refusal(_ text: String) -> DocumentError? {
  let bytes = Array(text.utf8)
  do {
    _ = try bytes.withUnsafeBytes {
      try FeedView.read($0, contentType: nil, baseURL: nil)
    }
    return nil
  } catch {
    return error as? DocumentError
  }
}

/// An RSS feed with these items, or with this inside the channel.
func rss(_ content: String, namespaces: String = "") -> String {
  "<?xml version=\"1.0\"?>\n<rss version=\"2.0\" \(namespaces)><channel>\(content)</channel></rss>"
}

func atom(_ content: String) -> String {
  "<feed xmlns=\"http://www.w3.org/2005/Atom\">\(content)</feed>"
}

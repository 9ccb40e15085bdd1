import Foundation

/// Writes `homefeed/1` documents for tests.
struct HomeFeedText {
  /// An entry of `entities`.
  struct Item: Sendable {
    var id: String
    var kind = "Episode"
    var revision: Int64
    var title: String?
    var updatedAt: String? = "2026-11-01T08:00:00Z"
    var isDeleted = false
    /// More members of `attrs`, as JSON.
    var attributes = ""

    init(_ id: String, _ revision: Int64, title: String? = nil, attributes: String = "") {
      self.id = id
      self.revision = revision
      self.title = title ?? "\(id) r\(revision)"
      self.attributes = attributes
    }

    static func deleted(_ id: String, _ revision: Int64) -> Item {
      var item = Item(id, revision)
      item.isDeleted = true
      return item
    }

    var text: String {
      var text = "{\"id\":\(quoted(id)),\"kind\":\(quoted(kind)),\"rev\":\(revision)"
      if isDeleted { return text + ",\"deleted\":true,\"deletedAt\":\"2026-11-19T09:00:00Z\"}" }
      if let updatedAt { text += ",\"updatedAt\":\"\(updatedAt)\"" }
      var members = title.map { ["\"title\":\(quoted($0))"] } ?? []
      if !attributes.isEmpty { members.append(attributes) }
      return text + ",\"attrs\":{\(members.joined(separator: ","))}}"
    }
  }

  var mode = "full"
  var epoch = "e1"
  var version: Int64 = 1
  var since: Int64?
  var entities: [String]
  /// Entries of `user`, as JSON.
  var users: [String] = []
  var next: String?
  var checkpoint: String?
  var title: String?

  init(_ items: [Item], checkpoint: String? = nil, next: String? = nil) {
    entities = items.map(\.text)
    self.checkpoint = checkpoint
    self.next = next
  }

  static func full(_ items: Item..., checkpoint: String? = nil) -> String {
    HomeFeedText(items, checkpoint: checkpoint).text
  }

  static func delta(_ items: Item..., version: Int64 = 2, checkpoint: String? = nil) -> String {
    var document = HomeFeedText(items, checkpoint: checkpoint)
    document.mode = "delta"
    document.version = version
    return document.text
  }

  var text: String {
    var members = [
      "\"format\":\"homefeed/1\"", "\"mode\":\(quoted(mode))", "\"epoch\":\(quoted(epoch))",
      "\"version\":\(version)",
    ]
    if let since { members.append("\"since\":\(since)") }
    if let title { members.append("\"title\":\(quoted(title))") }
    members.append("\"entities\":[\(entities.joined(separator: ","))]")
    if !users.isEmpty { members.append("\"user\":[\(users.joined(separator: ","))]") }
    if let next { members.append("\"page\":{\"next\":\(quoted(next))}") }
    if let checkpoint { members.append("\"checkpoint\":\(quoted(checkpoint))") }
    return "{\(members.joined(separator: ","))}"
  }

  /// The documents of one listing, each naming the next: `url`, `url?page=1`, …
  static func pages(
    _ pages: [[Item]], url: String, checkpoint: String? = nil
  ) -> [(url: String, text: String)] {
    pages.enumerated().map { number, items in
      let isLast = number == pages.count - 1
      let document = HomeFeedText(
        items, checkpoint: isLast ? checkpoint : nil,
        next: isLast ? nil : "\(url)?page=\(number + 1)")
      return (number == 0 ? url : "\(url)?page=\(number)", document.text)
    }
  }
}

/// A JSON string.
func quoted(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"", "\\": result += "\\\(scalar)"
    case _ where scalar.value < 0x20:
      let digits = String(scalar.value, radix: 16)
      result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\""
}

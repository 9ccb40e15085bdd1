import EntityModel
import Foundation

/// Reads JSON Feed 1 and 1.1 (https://jsonfeed.org/version/1.1): a window on the newest items,
/// without revisions and deletions.
///
/// An item without a usable id takes its `url`; without either it is rejected, as the
/// specification asks. Numbers as ids become strings, digit for digit.
struct JSONFeedDocument {
  private static let knownMembers: Set<String> = [
    "version", "title", "home_page_url", "feed_url", "description", "user_comment", "next_url",
    "icon", "favicon", "author", "authors", "language", "expired", "hubs", "items",
  ]

  private static let knownItemMembers: Set<String> = [
    "id", "url", "external_url", "title", "content_html", "content_text", "summary", "image",
    "banner_image", "date_published", "date_modified", "author", "authors", "tags", "language",
    "attachments",
  ]

  private let root: FeedRoot

  init(_ root: FeedRoot) {
    self.root = root
  }

  func page() throws(DocumentError) -> FeedPage {
    var page = FeedPage(format: .jsonFeed, mode: .window)
    page.title = try root.optional("title", dropped: &page.droppedMembers, \.string)
    page.next = try root.optional("next_url", dropped: &page.droppedMembers) { value in
      value.textBytes.isEmpty ? nil : value.string
    }
    guard let items = root["items"], !root.document.begins(items, with: "n") else {
      throw DocumentError(.missingMember, at: "/items")
    }
    var unknown = 0, dropped = 0
    (page.items, page.rejected) = try root.entries(of: "items") { value throws(DocumentError) in
      try item(value, unknown: &unknown, dropped: &dropped)
    }
    page.unknownMembers = root.unknownMembers(known: Self.knownMembers) + unknown
    page.droppedMembers += dropped
    return page
  }

  private func item(
    _ value: JSONValue, unknown: inout Int, dropped: inout Int
  ) throws(DocumentError) -> FeedItem {
    guard value.kind == .object else {
      throw DocumentError(.invalidMember, detail: "must be an object")
    }
    guard let id = Self.id(value["id"]) ?? Self.id(value["url"]) else {
      throw DocumentError(.missingMember, at: "/id", detail: "the item has no url either")
    }
    unknown += value.members.count {
      !Self.knownItemMembers.contains($0.name.text)
        && $0.name.textBytes.first != UInt8(ascii: "_")
    }
    return FeedItem(
      kind: nil, id: id, revision: nil,
      updatedAt: Self.time(value["date_modified"], dropped: &dropped), isDeleted: false,
      deletedAt: nil, fields: Self.fields(value))
  }

  private static func id(_ value: JSONValue?) -> String? {
    guard let value else { return nil }
    switch value.kind {
    case .string where !value.textBytes.isEmpty, .int64, .double, .unrepresentable:
      return value.text
    default: return nil
    }
  }

  /// A time that cannot be read is as good as none: many feeds have some.
  private static func time(_ value: JSONValue?, dropped: inout Int) -> Date? {
    guard let value, !value.isNull else { return nil }
    let date = value.kind == .string ? DateText.rfc3339(value.textBytes) : nil
    if date == nil { dropped += 1 }
    return date
  }

  /// What the item has of the fields below, under the names that entities use.
  private static func fields(_ item: JSONValue) -> [Field] {
    let attachment = item["attachments"]?.elements.first { _ in true }
    let values: [(String, JSONValue?)] = [
      ("title", item["title"]),
      ("summary", item["summary"].flatMap(present) ?? item["content_text"]),
      ("url", item["url"]),
      ("publishedAt", item["date_published"]),
      ("updatedAt", item["date_modified"]),
      ("duration", attachment?["duration_in_seconds"]),
    ]
    return values.compactMap { name, value in
      value.flatMap(present).map { Field(name: name, value: ScalarValue($0)) }
    }
  }

  /// JSON Feed knows no explicit null: it says as much as absence.
  private static func present(_ value: JSONValue) -> JSONValue? {
    value.isNull ? nil : value
  }
}

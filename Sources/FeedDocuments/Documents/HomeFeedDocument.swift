import EntityModel
import Foundation

/// Reads `homefeed/1`, the format of a home page that can be listed in full or by changes.
///
/// Rules: `rev` and `version` are integers from 0 to 2^53 - 1; ids are strings of 1 to 512 bytes;
/// a checkpoint has at most 2 KiB; times are RFC 3339; names that begin with "_" are extensions.
/// Undefined members are ignored, except those of an item whose entity has an attribute for them.
struct HomeFeedDocument {
  static let largestCheckpointBytes = 2_048
  static let largestInteger: Int64 = (1 << 53) - 1

  private static let knownMembers: Set<String> = [
    "format", "epoch", "mode", "version", "since", "generatedAt", "title", "sections", "entities",
    "user", "page", "checkpoint", "horizon", "ttl",
  ]

  private static let itemMembers = MemberNames([
    "id", "kind", "rev", "updatedAt", "attrs", "deleted", "deletedAt",
  ])

  private let root: FeedRoot
  private let extras: HomeFeedExtras

  init(_ root: FeedRoot, keeping extras: HomeFeedExtras) {
    self.root = root
    self.extras = extras
  }

  func page() throws(DocumentError) -> FeedPage {
    var page = try header()
    try readPosition(into: &page)
    try readItems(into: &page)
    try readUsers(into: &page)
    page.drift.unknownMembers += root.unknownMembers(known: Self.knownMembers)
    return page
  }

  // MARK: The document's own members

  private func header() throws(DocumentError) -> FeedPage {
    let mode = try root.require("mode", "\"full\" or \"delta\"") { value -> FeedMode? in
      value.hasText("full") ? .full : value.hasText("delta") ? .delta : nil
    }
    var page = FeedPage(format: .homeFeed1, mode: mode)
    page.epoch = try root.require("epoch", "a string that is not empty") {
      $0.string.flatMap { $0.isEmpty ? nil : $0 }
    }
    page.version = try root.require("version", Self.integerExpectation, Self.integer)
    page.since = try root.allow("since", Self.integerExpectation, Self.integer)
    page.checkpoint = try root.allow(
      "checkpoint", "a string of 1 to \(Self.largestCheckpointBytes) bytes"
    ) { value in
      (1...Self.largestCheckpointBytes).contains(value.textBytes.count) ? value.string : nil
    }
    page.title = try root.optional("title", dropped: &page.drift.droppedMembers, \.string)
    page.timeToLive = try root.optional("ttl", dropped: &page.drift.droppedMembers) {
      Self.integer($0).map(Int.init)
    }
    return page
  }

  /// Reads the next page's address. A `next` of the wrong type is an error, because it would
  /// otherwise look like the last page.
  private func readPosition(into page: inout FeedPage) throws(DocumentError) {
    let next = try root.allow("page", "an object") { value -> ScalarValue? in
      value.kind == .object ? value["next"].map(ScalarValue.init) ?? .null : nil
    }
    switch next {
    case nil, .null: break
    case .string(let next) where !next.isEmpty: page.next = next
    default:
      throw DocumentError(
        .invalidMember, at: "/page/next", detail: "must be a string that is not empty")
    }
  }

  // MARK: Entities

  private func readItems(into page: inout FeedPage) throws(DocumentError) {
    guard let entities = root["entities"], !root.document.begins(entities, with: "n") else {
      throw DocumentError(.missingMember, at: "/entities")
    }
    var drift = FormatDrift()
    var fields = FieldBuilder { $0.hasText("path") ? "pathID" : $0.text }
    fields.reserve(entities.elementIndices.count)
    (page.items, page.rejected) = try root.entries(of: "entities") { value throws(DocumentError) in
      try item(value, &fields, &drift)
    }
    let values = fields.finish()
    for number in page.items.indices { page.items[number].fields.attach(values) }
    page.drift.add(drift)
    page.volatileAttributes = extras.volatileAttributes
  }

  private func item(
    _ value: JSONValue, _ fields: inout FieldBuilder, _ drift: inout FormatDrift
  ) throws(DocumentError) -> FeedItem {
    var id: JSONValue?, kind: JSONValue?, revision: JSONValue?, updatedAt: JSONValue?
    var deleted: JSONValue?, deletedAt: JSONValue?, attributes: JSONValue?
    var unknown = 0
    try Self.requireObject(value)
    for (name, member) in value.members {
      if name.hasText("id") {
        id = member
      } else if name.hasText("kind") {
        kind = member
      } else if name.hasText("rev") {
        revision = member
      } else if name.hasText("updatedAt") {
        updatedAt = member
      } else if name.hasText("attrs") {
        attributes = member
      } else if name.hasText("deleted") {
        deleted = member
      } else if name.hasText("deletedAt") {
        deletedAt = member
      } else if name.textBytes.first != UInt8(ascii: "_") {
        unknown += 1
      }
    }
    var item = FeedItem(
      kind: try Self.text(kind, at: "/kind"), id: try Self.text(id, at: "/id"),
      revision: try Self.revision(revision), updatedAt: try Self.time(updatedAt, at: "/updatedAt"),
      isDeleted: try Self.flag(deleted), deletedAt: try Self.time(deletedAt, at: "/deletedAt"))
    if !item.isDeleted {
      fields.beginItem()
      try Self.read(attributes, updatedAt: updatedAt, into: &fields)
      if let extra = extras.of(item.kind) {
        keep(value, attributes, by: extra, in: &fields, &drift)
      }
      item.fields = fields.endItem()
    }
    drift.unknownMembers += unknown
    return item
  }

  /// Keeps the unknown members of an item and of its attributes. If both have a member of one name,
  /// the item's own wins.
  private func keep(
    _ value: JSONValue, _ attributes: JSONValue?, by extra: HomeFeedExtras.Extra,
    in fields: inout FieldBuilder, _ drift: inout FormatDrift
  ) {
    let own = value.members.filter { !Self.itemMembers.contains($0.name) }
    let other = attributes?.members.filter { !extra.known.contains($0.name) } ?? []
    let (kept, count) = extra.attribute.keep(other + own)
    drift.extraLeftOut += count
    // An attribute of this name that the server sends takes precedence.
    guard let kept, !fields.has(extra.attribute.name) else { return }
    fields.append(extra.attribute.name, .value(kept))
  }

  /// Reads the attributes under their own names, except `path`, which becomes `pathID`, and the
  /// item's `updatedAt`.
  private static func read(
    _ attributes: JSONValue?, updatedAt: JSONValue?, into fields: inout FieldBuilder
  ) throws(DocumentError) {
    if let attributes, !attributes.isNull {
      try requireObject(attributes, at: "/attrs")
      for (name, value) in attributes.members where name.textBytes.first != UInt8(ascii: "_") {
        fields.set(name, to: value)
      }
    }
    if let updatedAt, !updatedAt.isNull { fields.set("updatedAt", to: updatedAt) }
  }

  // MARK: User values

  private func readUsers(into page: inout FeedPage) throws(DocumentError) {
    var fields = FieldBuilder()
    (page.users, page.rejectedUsers) = try root.entries(of: "user") {
      value throws(DocumentError) in
      try Self.requireObject(value)
      guard value.textBytes.count <= DocumentLimits.itemBytesMax else {
        throw DocumentError(
          .invalidMember, detail: "must be at most \(DocumentLimits.itemBytesMax) bytes")
      }
      fields.beginItem()
      for (name, member) in value.members
      where !name.hasText("id") && !name.hasText("rev")
        && name.textBytes.first != UInt8(ascii: "_")
      {
        fields.set(name, to: member)
      }
      return UserEntry(
        id: try Self.text(value["id"], at: "/id"), revision: try Self.revision(value["rev"]),
        values: fields.endItem())
    }
    let values = fields.finish()
    for number in page.users.indices { page.users[number].values.attach(values) }
  }
}

// MARK: Rules

extension HomeFeedDocument {
  private static let integerExpectation = "an integer from 0 to 2^53 - 1"

  private static func integer(_ value: JSONValue) -> Int64? {
    value.int64.flatMap { (0...largestInteger).contains($0) ? $0 : nil }
  }

  private static func requireObject(
    _ value: JSONValue, at location: String = ""
  ) throws(DocumentError) {
    guard value.kind == .object else {
      throw DocumentError(.invalidMember, at: location, detail: "must be an object")
    }
  }

  /// Returns an id or a kind.
  private static func text(
    _ value: JSONValue?, at location: String
  ) throws(DocumentError) -> String {
    guard let value else { throw DocumentError(.missingMember, at: location) }
    guard let text = value.string, (1...DocumentLimits.idBytesMax).contains(text.utf8.count) else {
      throw DocumentError(
        .invalidMember, at: location,
        detail: "must be a string of 1 to \(DocumentLimits.idBytesMax) bytes")
    }
    return text
  }

  private static func revision(_ value: JSONValue?) throws(DocumentError) -> Int64 {
    guard let value else { throw DocumentError(.missingMember, at: "/rev") }
    guard let revision = integer(value) else {
      throw DocumentError(.invalidMember, at: "/rev", detail: "must be \(integerExpectation)")
    }
    return revision
  }

  private static func time(
    _ value: JSONValue?, at location: String
  ) throws(DocumentError) -> Date? {
    guard let value, !value.isNull else { return nil }
    guard value.kind == .string, let date = DateText.rfc3339(value.textBytes) else {
      throw DocumentError(.invalidMember, at: location, detail: "must be an RFC 3339 time")
    }
    return date
  }

  private static func flag(_ value: JSONValue?) throws(DocumentError) -> Bool {
    guard let value, !value.isNull else { return false }
    guard let flag = value.bool else {
      throw DocumentError(.invalidMember, at: "/deleted", detail: "must be true or false")
    }
    return flag
  }
}

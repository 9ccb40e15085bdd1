import TextFormats

/// The pages of the home feed: from a checkpoint, a cursor or nothing to the bytes of a document.
enum FeedPages {
  static let timeToLive = 900

  /// A request of a client.
  struct Question {
    var limit: Int
    /// The checkpoint of the last run, for a delta.
    var since: String?
    /// The cursor of the page before; it stands above the rest.
    var cursor: String?
  }

  enum Answer {
    /// A document; `next` is the target of the next page.
    case page(body: () -> [UInt8], entityTag: String, next: String?)
    /// Nothing has changed since the checkpoint.
    case unchanged(checkpoint: String, entityTag: String)
    /// The checkpoint or cursor is of no use any longer: a full listing is needed.
    case resync
    case badRequest(String)
  }

  static func answer(to question: Question, from history: FeedHistory) -> Answer {
    let cursor: Cursor
    if let text = question.cursor {
      guard let parsed = Cursor(text) else { return .badRequest("the cursor is not one of ours") }
      cursor = parsed
    } else if let checkpoint = question.since {
      guard let parsed = Checkpoint(checkpoint) else { return .resync }
      cursor = Cursor(
        epoch: parsed.epoch, version: history.version, since: parsed.version,
        position: parsed.version, index: 0)
    } else {
      cursor = Cursor(
        epoch: history.epoch, version: history.version, since: nil, position: 0, index: 0)
    }
    guard cursor.epoch == history.epoch, cursor.version <= history.version,
      cursor.version >= history.horizon, (cursor.since ?? .max) >= history.horizon,
      (cursor.since ?? 0) <= cursor.version
    else { return .resync }
    return page(at: cursor, limit: question.limit, of: history)
  }

  private static func page(at cursor: Cursor, limit: Int, of history: FeedHistory) -> Answer {
    let checkpoint = Checkpoint(epoch: cursor.epoch, version: cursor.version)
    // Everything that the bytes of the answer depend on.
    let entityTag = "\"h-\(cursor.version)-\(history.horizon)-\(limit)-\(cursor.text)\""
    if cursor.since == cursor.version {
      return .unchanged(checkpoint: checkpoint.text, entityTag: entityTag)
    }
    let (states, next) =
      if cursor.since != nil {
        history.delta(since: cursor.position, at: cursor.version, limit: limit)
      } else {
        history.listing(at: cursor.version, from: cursor.position, limit: limit)
      }
    let nextTarget = next.map {
      "/v1/home?cursor=\(cursor.following(position: $0).text)&limit=\(limit)"
    }
    return .page(
      body: { write(states, at: cursor, next: nextTarget, of: history) }, entityTag: entityTag,
      next: nextTarget)
  }

  private static func write(
    _ states: [FeedHistory.State], at cursor: Cursor, next: String?, of history: FeedHistory
  ) -> [UInt8] {
    let catalog = history.catalog
    var writer = JSONWriter()
    writer.object { writer in
      writer.string("format", "homefeed/1")
      writer.string("epoch", cursor.epoch)
      writer.string("mode", cursor.since == nil ? "full" : "delta")
      writer.number("version", cursor.version)
      if let since = cursor.since {
        writer.number("since", since)
      } else {
        writer.literal("since", "null")
      }
      writer.string("title", "首页 · Home")
      if cursor.since == nil, cursor.index == 0 { writeSections(of: history, to: &writer) }
      writer.array("entities") { writer in
        for state in states { write(state, of: catalog, to: &writer) }
      }
      writer.array("user") { writer in
        for state in states where !state.isDeleted && catalog.hasUserValues(state.item) {
          writer.object { catalog.writeUserValues(of: state.item, to: &$0) }
        }
      }
      writer.object("page") { writer in
        if let next { writer.string("next", next) }
        writer.number("index", cursor.index)
      }
      if next == nil {
        writer.string(
          "checkpoint", Checkpoint(epoch: cursor.epoch, version: cursor.version).text)
      }
      writer.number("horizon", history.horizon)
      writer.number("ttl", timeToLive)
    }
    return writer.bytes
  }

  private static func write(
    _ state: FeedHistory.State, of catalog: Catalog, to writer: inout JSONWriter
  ) {
    let time = catalog.updatedAt(state.item, revision: state.revision)
    writer.object { writer in
      writer.string("id", catalog.id(of: state.item))
      writer.string("kind", catalog.kind(of: state.item))
      writer.number("rev", state.revision)
      if state.isDeleted {
        writer.bool("deleted", true)
        writer.string("deletedAt", time)
      } else {
        writer.string("updatedAt", time)
        writer.object("attrs") {
          catalog.writeAttributes(
            of: state.item, revision: state.revision, born: state.born, to: &$0)
        }
      }
    }
  }

  private static func writeSections(of history: FeedHistory, to writer: inout JSONWriter) {
    let catalog = history.catalog
    writer.array("sections") { writer in
      writer.object { writer in
        writer.string("key", "recentUpdates")
        writer.string("title", "最近更新")
        writer.array("items") { writer in
          for state in history.newest(10) { writer.string(nil, catalog.id(of: state.item)) }
        }
        writer.bool("more", history.liveCount > 10)
      }
      for key in ["favorites", "watchLater", "free", "histories"] {
        writer.object { writer in
          writer.string("key", key)
          writer.bool("derived", true)
        }
      }
      writer.object { writer in
        writer.string("key", "learningPaths")
        writer.array("items") { writer in
          for path in 0..<min(6, catalog.paths) { writer.string(nil, catalog.id(of: path)) }
        }
      }
    }
  }
}

/// The text by which a client requests the changes since a run: `VERSION.EPOCH`.
struct Checkpoint {
  var epoch: String
  var version: Int

  var text: String { "\(version).\(epoch)" }
}

extension Checkpoint {
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let version = Int(parts[0]), version >= 0 else { return nil }
    self.init(epoch: String(parts[1]), version: version)
  }
}

/// Where in which listing a page begins. The version is pinned, so that all pages of a listing
/// agree however the feed goes on. Clients must not look inside, so it is written in hexadecimal.
struct Cursor: Equatable {
  var epoch: String
  var version: Int
  /// The version that a delta starts from; nil in a full listing.
  var since: Int?
  /// In a full listing the item to begin with, in a delta the revision to go on after.
  var position: Int
  /// Pages before this one.
  var index: Int

  func following(position: Int) -> Cursor {
    Cursor(
      epoch: epoch, version: version, since: since, position: position, index: index + 1)
  }

  var text: String {
    let plain = "\(epoch).\(version).\(since ?? -1).\(position).\(index)"
    return plain.utf8.map { String($0, radix: 16) }.joined()
  }
}

extension Cursor {
  init?(_ text: String) {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while rest.count >= 2 {
      let pair = String(decoding: rest.prefix(2), as: UTF8.self)
      guard let byte = UInt8(pair, radix: 16), byte >= 0x20 else { return nil }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    let parts = String(decoding: bytes, as: UTF8.self).split(separator: ".")
    let numbers = parts.dropFirst().compactMap { Int($0) }
    guard rest.isEmpty, parts.count == 5, numbers.count == 4, numbers[0] >= 0, numbers[1] >= -1,
      numbers[2] >= 0, numbers[3] >= 0
    else { return nil }
    self.init(
      epoch: String(parts[0]), version: numbers[0], since: numbers[1] < 0 ? nil : numbers[1],
      position: numbers[2], index: numbers[3])
  }
}

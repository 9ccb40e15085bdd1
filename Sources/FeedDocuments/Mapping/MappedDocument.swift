import EntityModel
import Foundation

/// Reads a document by a mapping. Nothing of the document is used after the call.
struct MappedDocument {
  private let mapping: FeedMapping
  private let root: JSONValue
  private let source: DocumentSource
  private var page: FeedPage

  init(_ mapping: FeedMapping, _ root: JSONValue, format: FeedFormat, _ source: DocumentSource) {
    self.mapping = mapping
    self.root = root
    self.source = source
    page = FeedPage(format: format, mode: source.isDelta ? .delta : mapping.mode)
  }

  /// Returns the page.
  ///
  /// - Parameter damaged: The errors of elements that placeholders stand for, in document order.
  /// - Throws: The reason why the document is no page of the feed. An error inside one item only
  ///   rejects that item.
  func page(damaged: [DocumentError] = []) throws(DocumentError) -> FeedPage {
    var reading = self
    try reading.read(damaged)
    return reading.page
  }

  private mutating func read(_ damaged: [DocumentError]) throws(DocumentError) {
    page.title = mapping.title?.value(in: root)?.string
    if let complete = mapping.complete?.value(in: root)?.bool, complete, page.mode == .window {
      page.mode = .full
    }
    try readTimeToLive()
    var damaged = damaged[...]
    for group in mapping.groups {
      try readItems(of: group, &damaged)
      try checkItems(of: group)
      if let deletions = group.deletions { try readDeletions(deletions, of: group) }
    }
    // No path has selected the others, but without the damage one might have.
    page.rejected += damaged.map { RejectedItem(index: 0, id: nil, reason: $0) }
    page.next = try nextPage()
    page.nextRun = try nextRun()
  }

  private mutating func readTimeToLive() throws(DocumentError) {
    guard let source = mapping.timeToLive else { return }
    switch try source.read(root) {
    case .value(.int64(let seconds)) where seconds >= 0: page.timeToLive = Int(seconds)
    case .nothing: break
    default: page.drift.droppedMembers += 1
    }
  }

  // MARK: Items

  private mutating func readItems(
    of group: ItemGroup, _ damaged: inout ArraySlice<DocumentError>
  ) throws(DocumentError) {
    try checkContainer(group.container)
    let nodes = try group.items.selection(in: root)
    if nodes.isEmpty { try checkContainer(group.holder) }
    var reader = ItemReader(group)
    var candidates: IdentityCandidates?
    if case .chosen(let levels) = group.identity { candidates = IdentityCandidates(levels) }
    var items: [FeedItem] = []
    for (index, node) in nodes.enumerated() {
      do throws(DocumentError) {
        if DamagedElements.isPlaceholder(node), let damage = damaged.popFirst() { throw damage }
        if let item = try reader.item(node, &candidates) { items.append(item) }
      } catch {
        try reject(node, reader.id(of: node), index, of: group.items, error)
      }
    }
    reader.complete(&items)
    if let candidates, !items.isEmpty {
      let level = candidates.choice(before: source.identity)
      page.identity = candidates.name(of: level)
      for (index, id) in candidates.identities(from: level).enumerated() { items[index].id = id }
    }
    page.items += items
    page.drift.add(reader.drift)
    let volatile = group.volatileAttributes
    if !volatile.isEmpty {
      for entity in group.entityNames {
        page.volatileAttributes[entity ?? "", default: []].formUnion(volatile)
      }
    }
  }

  private func checkContainer(_ pointer: JSONPointer?) throws(DocumentError) {
    guard let pointer else { return }
    let location = pointer.description
    guard let container = pointer.value(in: root), !container.isNull else {
      throw DocumentError(.missingMember, at: location)
    }
    guard container.kind == .array || container.kind == .object else {
      throw DocumentError(.invalidMember, at: location, detail: "must be an array")
    }
  }

  /// Refuses a JSON Feed whose items are one object, which a path to the elements of an array would
  /// take for a list of its values.
  private func checkItems(of group: ItemGroup) throws(DocumentError) {
    guard page.format == .jsonFeed, page.items.isEmpty, let pointer = group.container,
      pointer.value(in: root)?.kind == .object
    else { return }
    throw DocumentError(.invalidMember, at: pointer.description, detail: "must be an array")
  }

  private mutating func readDeletions(
    _ deletions: DeletionNodes, of group: ItemGroup
  ) throws(DocumentError) {
    var drift = FormatDrift()
    defer { page.drift.add(drift) }
    for (index, node) in try deletions.items.selection(in: root).enumerated() {
      guard let id = deletions.id.itemID(in: node) else {
        try reject(
          node, nil, index, of: deletions.items,
          DocumentError(.missingMember, detail: "the deletion has no id"))
        continue
      }
      var item = FeedItem(id: id, isDeleted: true)
      item.revision = try deletions.revision?.revision(of: node, &drift)
      item.deletedAt = try deletions.deletedAt?.date(of: node, named: "deletedAt", &drift)
      if let dates = node[FeedView.unreadableDates] { drift.addUnreadableDates(in: dates) }
      for entity in group.entityNames {
        item.kind = entity
        page.items.append(item)
      }
    }
  }

  /// - Parameter error: The reason; its location is relative to the node.
  private mutating func reject(
    _ node: JSONValue, _ id: String?, _ index: Int, of path: JSONPath, _ error: DocumentError
  ) throws(DocumentError) {
    var reason = error
    // Further rejections are only counted, and finding a location reads the document again.
    if page.rejected.count < DocumentLimits.rejectionsListedMax {
      let location = try location(of: index, path)
      if !reason.location.hasPrefix(location) { reason.location = location + reason.location }
    }
    page.rejected.append(RejectedItem(index: index, id: id, reason: reason))
  }

  private func location(of index: Int, _ path: JSONPath) throws(DocumentError) -> String {
    var place = ""
    var position = 0
    do throws(JSONPathError) {
      try path.forEach(in: root) { _, location in
        if position == index { place = location.pointer.description }
        position += 1
        return position <= index
      }
    } catch {
      throw DocumentError(.tooLarge, detail: error.description)
    }
    return place
  }

  // MARK: Pages

  /// Returns the next page's address. An address that cannot be read is an error, because it would
  /// look like the last page; in window mode, where missing items do no harm, it is only counted.
  private mutating func nextPage() throws(DocumentError) -> String? {
    do throws(DocumentError) {
      return try mapping.next?.address(in: root, of: source.url)
    } catch  where page.mode == .window {
      page.drift.droppedMembers += 1
      return nil
    }
  }

  private func nextRun() throws(DocumentError) -> FeedPage.NextRun? {
    switch mapping.checkpoint {
    case nil: return nil
    case .url(let pointer): return try text(at: pointer).map { .url($0) }
    case .token(let pointer, let parameter):
      return try text(at: pointer).map { .query(parameter, $0) }
    }
  }

  private func text(at pointer: JSONPointer) throws(DocumentError) -> String? {
    guard let value = pointer.value(in: root), !value.isNull else { return nil }
    guard let text = IdentityLevel.text(value), text.utf8.count <= Self.checkpointBytesMax else {
      throw DocumentError(
        .invalidMember, at: pointer.description,
        detail: "must be a text or a number of at most \(Self.checkpointBytesMax) bytes")
    }
    return text
  }

  private static let checkpointBytesMax = 4_096
}

extension ItemGroup {
  /// The entities of the items; nil stands for the feed's entity.
  var entityNames: [String?] {
    switch entity {
    case .one(let name): [name]
    case .byValue(_, let names): Set(names.values).sorted()
    }
  }
}

import EntityModel
import Foundation

/// Reads the nodes of one group as items.
struct ItemReader {
  private let group: ItemGroup
  private let hasTemplates: Bool
  private(set) var drift = FormatDrift()
  private var fields = FieldBuilder()

  init(_ group: ItemGroup) {
    self.group = group
    hasTemplates = group.attributes.contains(where: \.isTemplate)
  }

  /// Reads one node; returns nil for an item of an unknown kind.
  ///
  /// - Parameter candidates: The ids of the items so far, if one level is chosen for all; the
  ///   node's are added.
  mutating func item(
    _ node: JSONValue, _ candidates: inout IdentityCandidates?
  ) throws(DocumentError) -> FeedItem? {
    guard node.kind == .object else {
      throw DocumentError(.invalidMember, detail: "must be an object")
    }
    guard let id = id(of: node) else { throw missingID() }
    guard case .entity(let kind) = try kind(of: node) else { return nil }
    var item = FeedItem(kind: kind, id: id)
    fields.beginItem()
    try readMarks(of: node, into: &item)
    if !item.isDeleted {
      try readFields(of: node, id: id)
      keepExtra(of: node)
    }
    item.fields = fields.endItem()
    countUnknown(node)
    if candidates?.add(node) == false { throw missingID() }
    return item
  }

  /// Completes the fields of the items that were read.
  func complete(_ items: inout [FeedItem]) {
    let values = fields.finish()
    for number in items.indices { items[number].fields.attach(values) }
  }

  /// Returns the node's id before one level is chosen for all items.
  func id(of node: JSONValue) -> String? {
    switch group.identity {
    case .first(let pointers): return pointers.itemID(in: node)
    case .chosen(let levels):
      for level in levels {
        if let id = level.identity(of: node) { return id }
      }
      return nil
    }
  }

  private func missingID() -> DocumentError {
    if group.isBuiltIn {
      return DocumentError(.missingMember, detail: "it has no id, link, title or content")
    }
    let pointers: [JSONPointer] =
      switch group.identity {
      case .first(let pointers): pointers
      case .chosen(let levels): levels.flatMap(\.pointers)
      }
    let others = pointers.dropFirst().map(\.description).joined(separator: ", ")
    return DocumentError(
      .missingMember, at: pointers.first?.description ?? "",
      detail: others.isEmpty ? nil : "nor is there \(others)")
  }

  private enum Kind {
    case entity(String?)
    case unknown
  }

  private mutating func kind(of node: JSONValue) throws(DocumentError) -> Kind {
    switch group.entity {
    case .one(let entity): return .entity(entity)
    case .byValue(let source, let entities):
      var name: String?
      if case .value(.string(let word)) = try source.read(node) {
        if let entity = entities[word] { return .entity(entity) }
        name = word
      }
      drift.addUnknownKind(name)
      return .unknown
    }
  }

  // MARK: Marks

  private mutating func readMarks(
    of node: JSONValue, into item: inout FeedItem
  ) throws(DocumentError) {
    item.revision = try group.revision?.revision(of: node, &drift)
    if let source = group.deleted {
      switch try source.read(node) {
      case .value(.bool(let flag)): item.isDeleted = flag
      case .nothing: break
      case .value, .unfit:
        // An item that may be gone is neither stored nor deleted.
        throw DocumentError(.invalidMember, detail: "deleted is neither true nor false")
      }
    }
    if let date = try group.deletedAt?.date(of: node, named: "deletedAt", &drift) {
      item.isDeleted = true
      item.deletedAt = date
    }
    guard let source = group.updatedAt else { return }
    switch try source.read(node) {
    case .value(.date(let date)):
      item.updatedAt = date
      fields.append("updatedAt", .value(.date(date)))
    case .unfit(_, let written): drift.addUnreadableDate(written, "updatedAt")
    case .nothing, .value: break
    }
  }

  // MARK: Attributes

  private mutating func readFields(of node: JSONValue, id: String) throws(DocumentError) {
    for attribute in group.attributes where !attribute.isTemplate {
      try read(attribute, of: node)
    }
    guard hasTemplates else { return }
    let values = Dictionary(
      fields.fields.compactMap { field in
        if case .value(let value) = field.value { (field.name, value.text) } else { nil }
      },
      uniquingKeysWith: { first, _ in first })
    for attribute in group.attributes where attribute.isTemplate {
      try read(attribute, of: node) { $0 == "id" ? id : values[$0] }
    }
  }

  private mutating func read(
    _ attribute: AttributeSource, of node: JSONValue, _ values: (String) -> String? = { _ in nil }
  ) throws(DocumentError) {
    switch try attribute.source.read(node, values) {
    case .value(let value): fields.append(attribute.name, .value(value))
    case .nothing:
      if let value = attribute.defaultValue {
        fields.append(attribute.name, .value(value))
      } else if attribute.isRequired {
        throw DocumentError(.missingMember, detail: "\(attribute.name) is required")
      }
    case .unfit(let text, let written):
      if attribute.source.type == .date { drift.addUnreadableDate(written, attribute.name) }
      if attribute.isRequired {
        throw DocumentError(.invalidMember, detail: "\(attribute.name) is required; \(text)")
      }
      guard let value = attribute.defaultValue else {
        // An unreadable date is counted already.
        if attribute.source.type == .date { return }
        fields.append(attribute.name, .unrepresentable(text))
        return
      }
      drift.typeChanges[attribute.name, default: 0] += 1
      fields.append(attribute.name, .value(value))
    }
  }

  // MARK: Drift

  private mutating func keepExtra(of node: JSONValue) {
    guard let attribute = group.extra else { return }
    let known = group.knownMembers
    let extra = attribute.keep(node.members.lazy.filter { !known.contains($0.name) })
    drift.extraLeftOut += extra.leftOut
    if let value = extra.value {
      fields.append(attribute.name, .value(value))
    }
  }

  private mutating func countUnknown(_ node: JSONValue) {
    for (name, value) in node.members {
      if name.textBytes.first == UInt8(ascii: "_") {
        if name.hasText(FeedView.unreadableDates) { drift.addUnreadableDates(in: value) }
      } else if !group.knownMembers.contains(name) {
        drift.addUnknown(name.textBytes)
      }
    }
  }
}

extension FormatDrift {
  /// Counts the dates of an item or a tombstone that the view of RSS and Atom lists as unreadable.
  mutating func addUnreadableDates(in object: JSONValue) {
    for (name, text) in object.members { addUnreadableDate(text.text, name.text) }
  }
}

extension AttributeSource {
  fileprivate var isTemplate: Bool {
    if case .template = source.place { true } else { false }
  }
}

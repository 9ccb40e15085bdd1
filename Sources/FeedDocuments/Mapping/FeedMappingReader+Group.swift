import EntityModel
import StrictYAML
import TextFormats

/// Reads one group of items.
extension FeedMappingReader {
  func group(_ keys: inout YAMLMapping, at node: YAMLNode) throws -> ItemGroup {
    let items = try path(keys.required("items"))
    let (choice, entities) = try entityChoice(&keys)
    var group = ItemGroup(
      items: items, container: container(of: items), holder: holder(of: items), entity: choice,
      identity: try identity(&keys))
    group.isBuiltIn = isBuiltIn
    group.revision = try keys.optional("revision").map { try source($0, of: .int64) }
    let updatedAt = keys.optional("updatedAt")
    group.updatedAt = try updatedAt.map { try source($0, of: .date) }
    if let updatedAt, !isBuiltIn { try checkDate(entities, at: updatedAt) }
    try readDeletions(&keys, into: &group)
    if let node = keys.optional("attributes") {
      group.attributes = try attributes(node, of: entities, hasUpdate: updatedAt != nil)
    }
    group.extra = try keys.optional("extra").flatMap {
      try extra($0, of: entities, beside: group.attributes)
    }
    try checkTemplates(of: group, at: node)
    group.knownMembers = try knownMembers(&keys, node)
    if !isBuiltIn { try checkRequired(group, entities, at: node) }
    return group
  }

  /// Returns `/data/items` for `$.data.items[*]` and for `$.data.items[?@.type=='a']`.
  private func container(of path: JSONPath) -> JSONPointer? {
    guard let bracket = path.text.firstIndex(of: "[") else { return nil }
    let selector = path.text[bracket...]
    guard selector.hasPrefix("[*]") || selector.hasPrefix("[?") else { return nil }
    var names = path.text[..<bracket].split(separator: ".", omittingEmptySubsequences: false)
    guard names.removeFirst() == "$", !names.contains(where: { $0.isEmpty || $0 == "*" }) else {
      return nil
    }
    return JSONPointer(tokens: names.map(String.init))
  }

  /// Returns `/data` for `$.data.*.items[*]` and for `$.data..items`.
  private func holder(of path: JSONPath) -> JSONPointer? {
    let start = path.text.prefix { $0 != "[" && $0 != "*" }
    var names = start.split(separator: ".", omittingEmptySubsequences: false)
    guard names.removeFirst() == "$" else { return nil }
    // The last name may be that of the items themselves, which an item without them lacks.
    let isWhole = start.endIndex == path.text.endIndex
    let fixed = names.prefix { !$0.isEmpty }.dropLast(isWhole && !names.contains("") ? 1 : 0)
    return fixed.isEmpty ? nil : JSONPointer(tokens: fixed.map(String.init))
  }

  // MARK: Entities

  private func entityChoice(
    _ keys: inout YAMLMapping
  ) throws -> (ItemGroup.EntityChoice, [EntityDescription]) {
    let entity = keys.optional("entity")
    guard let kind = keys.optional("kind") else {
      guard let entity else {
        guard let description = schema.entity(named: feedEntity) else {
          throw keys.error(
            "the feed's entity \"\(feedEntity)\" does not exist; apply the migration that creates "
              + "it first")
        }
        return (.one(nil), [description])
      }
      let description = try self.entity(entity)
      return (.one(description.name), [description])
    }
    if let entity { throw entity.error("entity and kind exclude each other; remove one of them") }
    var kindKeys = try kind.mapping()
    var words = try kindKeys.required("entities").mapping()
    var names: [String: String] = [:]
    var entities: [EntityDescription] = []
    for (word, _) in words.keys {
      let description = try self.entity(words.required(word))
      names[word] = description.name
      if !entities.contains(where: { $0.name == description.name }) { entities.append(description) }
    }
    if names.isEmpty { throw words.error("name at least one value, with its entity") }
    let source = try valueSource(&kindKeys, at: kind, of: .string)
    try kindKeys.finish()
    return (.byValue(source, names), entities)
  }

  private func entity(_ node: YAMLNode) throws -> EntityDescription {
    let name = try node.string()
    if let entity = schema.entity(named: name), !entity.isSystem {
      guard entity.attribute(named: "feedID") != nil else {
        throw node.error(
          "\(name) cannot take a feed; add id, feedID, feedRevision and feedHash with a migration, "
            + "as Migrations/0001_home_feed.yaml does")
      }
      return entity
    }
    let names = schema.entities.filter { $0.attribute(named: "feedID") != nil }.map(\.name)
    throw node.error(
      "there is no entity \"\(name)\"; "
        + NearestName.advice(
          on: name, among: names, otherwise: "apply the migration that creates it first"))
  }

  // MARK: Identity

  private func identity(_ keys: inout YAMLMapping) throws -> ItemGroup.Identity {
    let id = keys.optional("id")
    guard let node = keys.optional("identity") else {
      return .first(try pointers(try id ?? keys.required("id")))
    }
    if let id { throw id.error("id and identity exclude each other; remove one of them") }
    let nodes = try node.sequence()
    guard (1...8).contains(nodes.count) else { throw node.error("name one to eight identities") }
    let levels = try nodes.map(identityLevel)
    if levels.allSatisfy(\.isFallback) {
      throw node.error("name an identity that is no fallback, for example /id")
    }
    return .chosen(levels)
  }

  private func identityLevel(_ node: YAMLNode) throws -> IdentityLevel {
    guard node.kind == .mapping else {
      return IdentityLevel(pointers: try pointers(node), isHash: node.kind == .sequence)
    }
    var keys = try node.mapping()
    let pointers = try self.pointers(keys.required("fallback"))
    let needsAll = try keys.optional("all")?.bool() ?? false
    try keys.finish()
    return IdentityLevel(
      pointers: pointers, isHash: true, isFallback: true, needsAll: needsAll)
  }

  // MARK: Deletions

  private func readDeletions(_ keys: inout YAMLMapping, into group: inout ItemGroup) throws {
    group.deletedAt = try keys.optional("deletedAt").map { try source($0, of: .date) }
    guard let node = keys.optional("deleted") else { return }
    guard node.kind == .mapping else {
      group.deleted = try source(node, of: .bool)
      return
    }
    var deletion = try node.mapping()
    guard let items = deletion.optional("items") else {
      group.deleted = try source(node, of: .bool)
      return
    }
    group.deletions = DeletionNodes(
      items: try path(items), id: try pointers(deletion.required("id")),
      revision: try deletion.optional("revision").map { try source($0, of: .int64) },
      deletedAt: try deletion.optional("deletedAt").map { try source($0, of: .date) })
    try deletion.finish()
  }

  // MARK: Members

  /// Keys that do not refer to members of an item's node.
  private static let documentKeys: Set<String> = [
    "mapping", "mode", "title", "ttl", "complete", "next", "checkpoint", "items", "known",
  ]

  /// Returns the members of a node that the file names anywhere.
  private func knownMembers(_ keys: inout YAMLMapping, _ node: YAMLNode) throws -> MemberNames {
    var names = MemberNames()
    if let known = keys.optional("known") {
      for name in try known.sequence() { names.insert(try name.string()) }
    }
    var group = try node.mapping()
    for (key, _) in group.keys where !Self.documentKeys.contains(key) {
      if let value = group.optional(key) { addNames(in: value, &names) }
    }
    return names
  }

  private func addNames(in node: YAMLNode, _ names: inout MemberNames) {
    switch node.content {
    case .scalar(let text, _): names.insert(firstOf: text)
    case .sequence(let nodes): for node in nodes { addNames(in: node, &names) }
    case .mapping(let entries): for entry in entries { addNames(in: entry.value, &names) }
    }
  }

  // MARK: What a group as a whole must have

  private func checkDate(_ entities: [EntityDescription], at node: YAMLNode) throws {
    for entity in entities {
      guard let attribute = entity.attribute(named: "updatedAt"), attribute.type != .date else {
        continue
      }
      throw node.error("\(entity.name).updatedAt is no date; map to another attribute")
    }
  }

  private func checkRequired(
    _ group: ItemGroup, _ entities: [EntityDescription], at node: YAMLNode
  ) throws {
    var mapped = Set(group.attributes.map(\.name)).union(FeedMapping.systemAttributes)
    if group.updatedAt != nil { mapped.insert("updatedAt") }
    for entity in entities {
      for attribute in entity.attributes
      where attribute.isRequiredOfFeeds && !mapped.contains(attribute.name) {
        throw node.error(
          "\(entity.name).\(attribute.name) is required and has no default; map it, or make it "
            + "optional in a migration")
      }
    }
  }

  /// Checks that templates name only values that are read before them.
  private func checkTemplates(of group: ItemGroup, at node: YAMLNode) throws {
    var names = ["id"]
    if group.updatedAt != nil { names.append("updatedAt") }
    for attribute in group.attributes {
      if case .template = attribute.source.place { continue }
      names.append(attribute.name)
    }
    for attribute in group.attributes {
      guard case .template(let template) = attribute.source.place else { continue }
      for name in template.names where !names.contains(name) {
        throw node.error(
          "the template of \(attribute.name) has {\(name)}, which is no value of the item; "
            + NearestName.advice(
              on: name, among: names, otherwise: "there are \(names.joined(separator: ", "))"))
      }
    }
  }
}

extension AttributeDescription {
  /// True if the attribute holds the link of a relationship.
  var isLink: Bool { if case .reference = type { true } else { false } }

  /// True if each new record needs a value from the feed.
  package var isRequiredOfFeeds: Bool {
    !isOptional && defaultValue.isNull && !isHidden && !isLink && owner == .feed
  }
}

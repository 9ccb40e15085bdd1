import EntityModel
import StrictYAML
import TextFormats

/// Reads a mapping from its YAML: here the keys about the whole document.
struct FeedMappingReader {
  let schema: Schema
  /// The feed's entity.
  let feedEntity: String
  let isBuiltIn: Bool

  func mapping(_ root: YAMLNode) throws -> FeedMapping {
    var keys = try root.mapping()
    var mapping = FeedMapping(name: try name(keys.required("mapping")))
    if let node = keys.optional("mode") { mapping.mode = try choice(node, "mode", FeedMode.self) }
    mapping.title = try keys.optional("title").map(pointer)
    mapping.timeToLive = try keys.optional("ttl").map { try source($0, of: .int64) }
    mapping.complete = try keys.optional("complete").map(pointer)
    mapping.next = try keys.optional("next").map(nextPage)
    mapping.checkpoint = try keys.optional("checkpoint").map(checkpoint)
    if let groups = keys.optional("groups") {
      mapping.groups = try self.groups(groups)
    } else {
      mapping.groups = [try group(&keys, at: root)]
    }
    try keys.finish()
    return mapping
  }

  private func groups(_ node: YAMLNode) throws -> [ItemGroup] {
    let nodes = try node.sequence()
    if nodes.isEmpty { throw node.error("name at least one group, or write items without groups") }
    if nodes.count > 32 { throw node.error("a mapping has at most 32 groups") }
    var groups: [ItemGroup] = []
    for node in nodes {
      var keys = try node.mapping()
      let group = try group(&keys, at: node)
      try keys.finish()
      // The store remembers one choice for the feed.
      if group.identity.isChosen, groups.contains(where: \.identity.isChosen) {
        throw node.error("only one group can have an identity; write id here")
      }
      groups.append(group)
    }
    return groups
  }

  private func name(_ node: YAMLNode) throws -> String {
    let name = try node.string()
    let first = name.utf8.first ?? 0
    guard (1...64).contains(name.utf8.count), Ascii.isLetter(first),
      name.utf8.allSatisfy({ Ascii.isLetter($0) || Ascii.isDigit($0) || $0 == 0x2d || $0 == 0x2e })
    else {
      throw node.error(
        "\"\(name.prefix(64))\" is not a valid name of a mapping; "
          + "use at most 64 letters, digits, - and ., "
          + "a letter first")
    }
    return name
  }

  // MARK: Pages

  private func nextPage(_ node: YAMLNode) throws -> NextPage {
    if node.kind != .mapping {
      switch node.kind == .scalar ? try node.string() : "" {
      case "link": return .linkHeader
      case "rfc5005": return .archive
      default: return .url(try pointers(node, "write a pointer, link, rfc5005 or a mapping"))
      }
    }
    var keys = try node.mapping()
    let next: NextPage
    if let url = keys.optional("url") {
      next = .url(try pointers(url))
    } else if let token = keys.optional("token") {
      next = .token(try pointer(token), parameter: try parameter(&keys))
    } else if let page = keys.optional("page") {
      next = .page(
        try pointer(page), of: try pointer(keys.required("pages")),
        parameter: try parameter(&keys))
    } else if let offset = keys.optional("offset") {
      next = .offset(
        try pointer(offset), limit: try pointer(keys.required("limit")),
        total: try pointer(keys.required("total")), parameter: try parameter(&keys))
    } else {
      throw node.error("name the place of the next page with url, token, page or offset")
    }
    try keys.finish()
    return next
  }

  private func checkpoint(_ node: YAMLNode) throws -> Checkpoint {
    if node.kind == .scalar { return .url(try pointer(node)) }
    var keys = try node.mapping()
    let checkpoint: Checkpoint
    if let url = keys.optional("url") {
      checkpoint = .url(try pointer(url))
    } else if let token = keys.optional("token") {
      checkpoint = .token(try pointer(token), parameter: try parameter(&keys))
    } else {
      throw node.error("name the start of the next run: a url, or a token with its param")
    }
    try keys.finish()
    return checkpoint
  }

  private func parameter(_ keys: inout YAMLMapping) throws -> String {
    let node = try keys.required("param")
    let name = try node.string()
    if name.isEmpty || name.utf8.contains(where: { $0 < 0x20 }) {
      throw node.error("name the parameter of the query that has the value")
    }
    return name
  }

  // MARK: Places

  func pointer(_ node: YAMLNode) throws -> JSONPointer {
    guard try node.string().hasPrefix("/") else {
      throw node.error("write a JSON Pointer, for example /data/next")
    }
    return try parsed(node) { try JSONPointer($0) }
  }

  /// Reads one pointer or a list of them.
  func pointers(
    _ node: YAMLNode, _ otherwise: String = "write a JSON Pointer or a list of them"
  ) throws -> [JSONPointer] {
    switch node.kind {
    case .scalar:
      guard try node.string().hasPrefix("/") else { throw node.error(otherwise) }
      return [try pointer(node)]
    case .sequence:
      let nodes = try node.sequence()
      if nodes.isEmpty { throw node.error("name at least one pointer") }
      return try nodes.map(pointer)
    case .mapping: throw node.error(otherwise)
    }
  }

  /// Reads one path or a list of them.
  func paths(_ node: YAMLNode) throws -> [JSONPath] {
    guard node.kind == .sequence else { return [try path(node)] }
    let nodes = try node.sequence()
    if nodes.isEmpty { throw node.error("name at least one path") }
    return try nodes.map(path)
  }

  func path(_ node: YAMLNode) throws -> JSONPath {
    try parsed(node) { try JSONPath($0) }
  }

  /// Reads a text in a notation of its own, whose errors name the place in it.
  func parsed<Parsed>(_ node: YAMLNode, _ parse: (String) throws -> Parsed) throws -> Parsed {
    let text = try node.string()
    do {
      return try parse(text)
    } catch {
      throw node.error("\(error)")
    }
  }

  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ node: YAMLNode, _ what: String, _ type: Choice.Type
  ) throws -> Choice {
    let name = try node.string()
    if let choice = Choice(rawValue: name) { return choice }
    let names = Choice.allCases.map(\.rawValue)
    throw node.error(
      "unknown \(what) \"\(name)\"; "
        + NearestName.advice(
          on: name, among: names, otherwise: "known are \(names.joined(separator: ", "))"))
  }
}

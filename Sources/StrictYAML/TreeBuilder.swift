/// Builds the tree of one document from its events and refuses what the dialect does not have.
struct TreeBuilder {
  private var events: EventReader
  private let file: String
  private var depth = 0
  /// The end of the last scalar or closing bracket. A block ends with the last value in it.
  private var end = 0

  init(events: EventReader, file: String) {
    self.events = events
    self.file = file
  }

  mutating func document() throws(YAMLError) -> YAMLNode {
    _ = try events.next()
    let start = try events.next()
    guard case .documentStart(let hasDirectives) = start.step else {
      throw error(Position(), "the document is empty; a mapping is expected")
    }
    if hasDirectives {
      throw error(start.position, "directives (\"%\") are not supported; remove this line")
    }
    let root = try node(from: events.next())
    _ = try events.next()
    let end = try events.next()
    guard case .streamEnd = end.step else {
      throw error(end.position, "a second document starts here; keep one document in a file")
    }
    return root
  }

  private mutating func node(from event: Event) throws(YAMLError) -> YAMLNode {
    try refuseReferences(event)
    switch event.step {
    case .scalar("", isPlain: true):
      throw error(event.position, "a value is missing here; write it, or null, or \"\"")
    case .scalar(let text, let isPlain):
      end = event.range.upperBound
      return node(from: event, .scalar(text, isPlain: isPlain))
    case .sequenceStart:
      return try nested(event) { (builder) throws(YAMLError) in
        .sequence(try builder.elements())
      }
    default:
      return try nested(event) { (builder) throws(YAMLError) in
        .mapping(try builder.entries())
      }
    }
  }

  private func refuseReferences(_ event: Event) throws(YAMLError) {
    if case .alias = event.step {
      throw error(event.position, "aliases (\"*\") are not supported; repeat the value")
    }
    switch event.property {
    case .anchor: throw error(event.position, "anchors (\"&\") are not supported; remove it")
    case .tag: throw error(event.position, "tags (\"!\") are not supported; remove it")
    case nil: return
    }
  }

  private mutating func nested(
    _ event: Event, _ content: (inout TreeBuilder) throws(YAMLError) -> YAMLNode.Content
  ) throws(YAMLError) -> YAMLNode {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Limits.nestingMax else {
      throw error(event.position, tooDeep)
    }
    let content = try content(&self)
    return node(from: event, content)
  }

  private mutating func elements() throws(YAMLError) -> [YAMLNode] {
    var elements: [YAMLNode] = []
    while true {
      let event = try events.next()
      if case .sequenceEnd = event.step {
        close(event)
        return elements
      }
      elements.append(try node(from: event))
    }
  }

  private mutating func entries() throws(YAMLError) -> [YAMLNode.Entry] {
    var entries: [YAMLNode.Entry] = []
    var lines: [String: Int] = [:]
    while true {
      let event = try events.next()
      if case .mappingEnd = event.step {
        close(event)
        return entries
      }
      let key = try key(from: event)
      if let line = lines.updateValue(event.position.line, forKey: key) {
        throw error(
          event.position, "the key \(excerpt(key)) is already there, at line \(line); keep one")
      }
      let value = try node(from: events.next())
      entries.append(
        YAMLNode.Entry(
          key: key, position: event.position, start: event.range.lowerBound, value: value))
    }
  }

  private func key(from event: Event) throws(YAMLError) -> String {
    try refuseReferences(event)
    guard case .scalar(let key, let isPlain) = event.step else {
      throw error(event.position, "a key must be text, not a collection")
    }
    guard isPlain else { return key }
    switch key {
    case "<<": throw error(event.position, "merge keys (\"<<\") are not supported; repeat the keys")
    case "": throw error(event.position, "a key is missing here; write it, or \"\"")
    case "null", "~": throw error(event.position, "a key must be text; quote it: \"\(key)\"")
    default: return key
    }
  }

  private mutating func close(_ event: Event) {
    if !event.range.isEmpty { end = event.range.upperBound }
  }

  private func node(from event: Event, _ content: YAMLNode.Content) -> YAMLNode {
    let start = event.range.lowerBound
    return YAMLNode(
      file: file, position: event.position, range: start..<max(start, end), content: content)
  }

  private func error(_ position: Position, _ summary: String) -> YAMLError {
    YAMLError(file: file, line: position.line, column: position.column, summary: summary)
  }
}

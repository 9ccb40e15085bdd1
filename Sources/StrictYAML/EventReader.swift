internal import CMooringYAML

/// One step of a document, with the place where it starts.
struct Event {
  enum Step {
    case streamStart, streamEnd
    case documentStart(hasDirectives: Bool)
    case documentEnd
    case alias
    case scalar(String, isPlain: Bool)
    case sequenceStart, sequenceEnd
    case mappingStart, mappingEnd
  }

  enum Property { case anchor, tag }

  let step: Step
  let position: Position
  /// The place in the text, in code points. Empty for the end of a block, which no character marks.
  let range: Range<Int>
  /// The anchor or tag in front of the node; if there are both, the first one.
  let property: Property?
}

/// Reads the events of one text, in order, from libyaml.
///
/// Events are needed rather than a tree of libyaml or of another reader: only they have the place
/// of a duplicate key, aliases before they are followed, and the tag `!`.
///
/// Valid only inside `SourceText.withEvents`, which owns the memory.
struct EventReader {
  fileprivate let parser: UnsafeMutablePointer<yaml_parser_t>
  fileprivate let bytes: UnsafeBufferPointer<UInt8>
  fileprivate let file: String
  private var cursor = CharacterCursor()

  fileprivate init(
    parser: UnsafeMutablePointer<yaml_parser_t>, bytes: UnsafeBufferPointer<UInt8>, file: String
  ) {
    self.parser = parser
    self.bytes = bytes
    self.file = file
  }

  /// Returns the next event. Not to be called after `.streamEnd`.
  mutating func next() throws(YAMLError) -> Event {
    var raw = yaml_event_t()
    // SAFETY: `parser` is initialized and not yet deleted; `raw` is filled or zeroed by the call,
    // and every pointer read from it below is copied before it is deleted.
    guard yaml_parser_parse(parser, &raw) == 1 else { throw syntaxError() }
    defer { yaml_event_delete(&raw) }
    return Event(
      step: step(of: raw), position: Position(raw.start_mark),
      range: raw.start_mark.index..<max(raw.start_mark.index, raw.end_mark.index),
      property: property(of: raw))
  }

  private func step(of raw: yaml_event_t) -> Event.Step {
    switch raw.type {
    case YAML_STREAM_START_EVENT: return .streamStart
    case YAML_DOCUMENT_START_EVENT:
      let start = raw.data.document_start
      let hasTags = start.tag_directives.start != start.tag_directives.end
      return .documentStart(hasDirectives: start.version_directive != nil || hasTags)
    case YAML_DOCUMENT_END_EVENT: return .documentEnd
    case YAML_ALIAS_EVENT: return .alias
    case YAML_SCALAR_EVENT:
      let scalar = raw.data.scalar
      // SAFETY: libyaml gives `length` bytes at `value`; they live until the event is deleted.
      let text = String(
        decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
      return .scalar(text, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE)
    case YAML_SEQUENCE_START_EVENT: return .sequenceStart
    case YAML_SEQUENCE_END_EVENT: return .sequenceEnd
    case YAML_MAPPING_START_EVENT: return .mappingStart
    case YAML_MAPPING_END_EVENT: return .mappingEnd
    default: return .streamEnd
    }
  }

  /// The property is read from the text, because libyaml drops the tag `!` from its events. A node
  /// with properties starts at the first of them, and no other node starts with these characters.
  private mutating func property(of raw: yaml_event_t) -> Event.Property? {
    guard raw.start_mark.index < raw.end_mark.index else { return nil }
    switch raw.type {
    case YAML_SCALAR_EVENT, YAML_SEQUENCE_START_EVENT, YAML_MAPPING_START_EVENT: break
    default: return nil
    }
    switch cursor.byte(atCharacter: raw.start_mark.index, in: bytes) {
    case UInt8(ascii: "&"): return .anchor
    case UInt8(ascii: "!"): return .tag
    default: return nil
    }
  }

  private func syntaxError() -> YAMLError {
    let failure = parser.pointee
    // SAFETY: both are static C strings of libyaml, or null.
    let problem = failure.problem.map { String(cString: $0) } ?? "the parser gave up"
    let context = failure.context.map { String(cString: $0) }
    var characters = CharacterCursor()
    return SyntaxProblem(
      problem: problem, position: Position(failure.problem_mark), context: context,
      contextPosition: Position(failure.context_mark),
      character: characters.byte(atCharacter: failure.problem_mark.index, in: bytes)
    ).error(file: file)
  }
}

extension SourceText {
  /// Gives the body a reader over this text.
  func withEvents<Result>(
    _ body: (EventReader) throws(YAMLError) -> Result
  ) throws(YAMLError) -> Result {
    try bytes.withUnsafeBufferPointer { (buffer) throws(YAMLError) in
      guard let start = buffer.baseAddress, !buffer.isEmpty else {
        throw error(atByte: 0, "the document is empty; a mapping is expected")
      }
      // libyaml keeps a pointer to the parser inside the parser, so it must not move.
      let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
      defer { parser.deallocate() }
      // SAFETY: the memory is allocated above; `initialize` fills it and `delete` frees what the
      // parser holds. The input outlives the parser: both end with this closure.
      guard yaml_parser_initialize(parser) == 1 else {
        throw error(atByte: 0, "there is not enough memory to read the document; try again")
      }
      defer { yaml_parser_delete(parser) }
      yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
      yaml_parser_set_input_string(parser, start, buffer.count)
      return try body(EventReader(parser: parser, bytes: buffer, file: file))
    }
  }
}

/// Finds the byte at a character number. Numbers must not decrease, so a walk is linear in all.
private struct CharacterCursor {
  private var character = 0
  private var byte = 0

  mutating func byte(atCharacter target: Int, in bytes: UnsafeBufferPointer<UInt8>) -> UInt8? {
    while character < target, byte < bytes.count {
      byte += 1
      while byte < bytes.count, bytes[byte] & 0xC0 == 0x80 { byte += 1 }
      character += 1
    }
    return byte < bytes.count ? bytes[byte] : nil
  }
}

extension Position {
  /// libyaml counts from 0.
  fileprivate init(_ mark: yaml_mark_t) {
    self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
  }
}

extension FeedPage {
  /// Reads a whole document: homefeed/1 by its own rules, any other by a mapping.
  ///
  /// Damage to the structure (a cut, a missing comma, bytes after the end) and broken rules of the
  /// document itself fail the page; an error inside one item rejects that item. If an object has a
  /// name twice, the last one is used. O(length), plus the bounded time that the paths of the
  /// feed's own mapping take.
  ///
  /// - Parameter bytes: The body, followed by `JSONParser.padding` readable bytes.
  package static func parse(
    _ bytes: UnsafeRawBufferPointer, _ source: DocumentSource, by mappings: FeedMappings
  ) throws(DocumentError) -> FeedPage {
    do throws(DocumentError) {
      let parser = try JSONParser()
      if DocumentGuess(bytes) == .xml { return try page(ofXML: bytes, parser, source, mappings) }
      if let given = mappings.given {
        return try page(bytes, parser, given, .json, source)
      }
      let read = try parser.withDocument(bytes) { document throws(DocumentError) in
        let root = try FeedRoot(document)
        let format = try root.format()
        if format != .homeFeed1 { return (format: format, page: FeedPage?.none) }
        return (format, try HomeFeedDocument(root, keeping: mappings.homeFeedExtras).page())
      }
      if var page = read.page {
        page.mappingHash = mappings.homeFeedHash
        page.addFaults(of: parser, in: bytes)
        return page
      }
      let format = read.format
      guard !mappings.isHomeFeed else {
        throw DocumentError(.unknownFormat, detail: "found \(format.rawValue), not homefeed/1")
      }
      return try page(bytes, parser, try mappings.builtIn(format), format, source)
    } catch  where error.code != .outOfMemory && error.location.isEmpty {
      throw error.explained(by: bytes, contentType: source.contentType)
    }
  }

  /// Reads RSS and Atom as one JSON view.
  private static func page(
    ofXML bytes: UnsafeRawBufferPointer, _ parser: JSONParser, _ source: DocumentSource,
    _ mappings: FeedMappings
  ) throws(DocumentError) -> FeedPage {
    let view = try FeedView.read(bytes, contentType: source.contentType, baseURL: source.url)
    guard !mappings.isHomeFeed else {
      throw DocumentError(.unknownFormat, detail: "found \(view.format.rawValue), not homefeed/1")
    }
    let mapping = if let given = mappings.given { given } else { try mappings.builtIn(view.format) }
    var page = try view.json.withUnsafeBytes { json throws(DocumentError) -> FeedPage in
      try Self.page(json, parser, mapping, view.format, source)
    }
    page.isComplete = view.isComplete
    page.faults = view.faults + view.lostItems
    page.firstFault = view.firstFault
    page.salvagedItems = view.salvagedItems
    return page
  }

  private static func page(
    _ bytes: UnsafeRawBufferPointer, _ parser: JSONParser, _ mapping: ReadMapping,
    _ format: FeedFormat, _ source: DocumentSource
  ) throws(DocumentError) -> FeedPage {
    var page: FeedPage
    do throws(DocumentError) {
      page = try parser.withValue(bytes) { root throws(DocumentError) in
        try MappedDocument(mapping.mapping, root, format: format, source).page()
      }
    } catch  where error.isInsideAValue {
      guard let damaged = try DamagedElements(bytes, parser) else { throw error }
      page = try damaged.text.withUnsafeBytes { text throws(DocumentError) in
        try parser.withValue(text) { root throws(DocumentError) in
          try MappedDocument(mapping.mapping, root, format: format, source)
            .page(damaged: damaged.errors)
        }
      }
    }
    page.mappingHash = mapping.hash
    page.addFaults(of: parser, in: bytes)
    return page
  }

  /// Counts the halves of characters that the parser has replaced.
  private mutating func addFaults(of parser: JSONParser, in bytes: UnsafeRawBufferPointer) {
    let replaced = parser.replaced
    guard replaced.count > 0 else { return }
    faults += replaced.count
    salvagedItems = items.count
    let escape = String(decoding: bytes.dropFirst(replaced.offset).prefix(6), as: UTF8.self)
    let fault = LineFault(
      "\(escape) is half of a character", after: bytes.prefix(replaced.offset))
    firstFault = firstFault ?? fault.text
  }
}

extension FeedRoot {
  /// Returns the format that the document names.
  fileprivate func format() throws(DocumentError) -> FeedFormat {
    if try string("format") == FeedFormat.homeFeed1.rawValue { return .homeFeed1 }
    if FeedFormat.isJSONFeed(version: try string("version")) { return .jsonFeed }
    throw DocumentError(.unknownJSON, detail: try describeFormat())
  }
}

extension DocumentError {
  /// True if the structure of the document is sound and only a value in it is damaged.
  fileprivate var isInsideAValue: Bool {
    switch code {
    case .invalidString, .invalidNumber, .invalidLiteral, .invalidUTF8, .tooDeep: true
    default: false
    }
  }
}

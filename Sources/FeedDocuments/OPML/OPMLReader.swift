import CMooringXML

/// Collects the feeds of a document while libxml2 reads it.
struct OPMLReader {
  private enum Level {
    case folder(isNamed: Bool, hasOutlines: Bool)
    case feed
    /// Any other element.
    case other
  }

  private(set) var feeds: [OPMLDocument.Feed] = []
  /// The offset of each feed's tag in the text.
  private(set) var offsets: [Int] = []
  private(set) var skipped = 0

  private var levels: [Level] = []
  private var folder: [String] = []
  /// The name of the first element.
  private var root: String?
  /// True between the tag of a feed and the report of its place.
  private var awaitsPlace = false
  private var fault: Int?

  /// - Parameter text: Without a document type.
  static func read(_ text: XMLCleaner) throws(OPMLError) -> OPMLReader {
    guard !text.output.isEmpty, let length = Int32(exactly: text.output.count) else {
      throw OPMLError("it has no elements of XML")
    }
    _ = XMLReader.initialization
    var events = mooring_xml_events(
      start: startElement, end: endElement, text: ignoreText, fault: reportPlaceOfFault)
    var reader = OPMLReader()
    let code = withUnsafeMutablePointer(to: &reader) { reader in
      text.output.withUnsafeBytes { bytes in
        // SAFETY: libxml2 copies the bytes and calls back on this thread before it returns; no
        // other code uses the reader until then.
        mooring_xml_read(
          bytes.baseAddress, length, 0, Int32(XMLLimits.namesMax), &events, reader)
      }
    }
    if let root = reader.root, root != "opml" {
      throw OPMLError("it is no OPML: its first element is <\(root.excerpt(40))>, not <opml>")
    }
    switch code {
    case MOORING_XML_OK: break
    case MOORING_XML_TOO_MANY_NAMES:
      throw OPMLError("it has more than \(XMLLimits.namesMax) different names in XML")
    case MOORING_XML_NO_MEMORY: throw OPMLError("there is not enough memory to read it")
    default:
      let line = text.lines(ofOutput: [min(reader.fault ?? 0, text.output.count)])[0]
      throw OPMLError("the XML is not well-formed; correct it, or export it again", line: line)
    }
    reader.findTags(in: text.output)
    return reader
  }

  /// Replaces the ends of tags by their starts. No tag contains another `<`.
  private mutating func findTags(in text: [UInt8]) {
    for index in offsets.indices {
      var offset = min(offsets[index], text.count) - 1
      while offset > 0, text[offset] != Ascii.less { offset -= 1 }
      offsets[index] = max(0, offset)
    }
  }

  // MARK: Events

  /// - Returns: True if the place of the element is to be reported.
  fileprivate mutating func start(name: UnsafePointer<UInt8>, _ attributes: XMLAttributes) -> Bool {
    // SAFETY: libxml2's names end with NUL.
    let name = String(cString: name).lowercased()
    if root == nil { root = name }
    guard name == "outline", root == "opml" else {
      levels.append(.other)
      return false
    }
    if case .folder(let isNamed, _)? = levels.last {
      levels[levels.count - 1] = .folder(isNamed: isNamed, hasOutlines: true)
    }
    let url = attributes["xmlUrl"]?.trimmed ?? ""
    guard url.isEmpty else {
      levels.append(.feed)
      return add(url, attributes)
    }
    let title = Self.title(in: attributes)
    let isNamed = title.map(hasRoom) ?? false
    if let title, isNamed { folder.append(title) }
    levels.append(.folder(isNamed: isNamed, hasOutlines: false))
    return false
  }

  private func hasRoom(for title: String) -> Bool {
    folder.count < OPMLDocument.foldersMax
      && folder.reduce(title.utf8.count) { $0 + $1.utf8.count } <= OPMLDocument.folderBytesMax
  }

  private mutating func add(_ url: String, _ attributes: XMLAttributes) -> Bool {
    // FreshRSS lists pages from which it extracts items itself: HTML+XPath, JSON+DotNotation.
    if attributes["type"]?.contains("+") == true {
      skipped += 1
      return false
    }
    let title = Self.title(in: attributes).flatMap { $0 == url ? nil : $0 }
    let categories = (attributes["category"] ?? "").split(separator: ",").map { String($0).trimmed }
      .filter { !$0.isEmpty }
    feeds.append(
      .init(
        url: url, title: title, folder: folder,
        categories: Array(categories.prefix(OPMLDocument.categoriesMax))))
    awaitsPlace = true
    return true
  }

  /// Returns what readers show of the outline.
  private static func title(in attributes: XMLAttributes) -> String? {
    for title in [attributes["text"], attributes["title"]] {
      if let title = title?.trimmed, !title.isEmpty { return title }
    }
    return nil
  }

  fileprivate mutating func end() {
    guard case .folder(let isNamed, let hasOutlines)? = levels.popLast() else { return }
    if isNamed { folder.removeLast() }
    if !hasOutlines { skipped += 1 }
  }

  fileprivate mutating func reportPlace(_ offset: Int) {
    if awaitsPlace {
      offsets.append(offset)
      awaitsPlace = false
    } else {
      fault = fault ?? offset
    }
  }
}

private func startElement(
  _ context: UnsafeMutableRawPointer?, _ name: UnsafePointer<UInt8>?,
  _ prefix: UnsafePointer<UInt8>?, _ uri: UnsafePointer<UInt8>?, _ namespaces: Int32,
  _ attributeCount: Int32, _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
) -> Int32 {
  // SAFETY: the context is the reader that `read` lent.
  guard let reader = context?.assumingMemoryBound(to: OPMLReader.self), let name else { return 0 }
  let attributes = XMLAttributes(start: attributes, count: Int(attributeCount))
  return reader.pointee.start(name: name, attributes) ? 2 : 1
}

private func endElement(_ context: UnsafeMutableRawPointer?) {
  // SAFETY: as above.
  context?.assumingMemoryBound(to: OPMLReader.self).pointee.end()
}

private func ignoreText(
  _ context: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ length: Int32
) -> Int32 { 1 }

private func reportPlaceOfFault(
  _ context: UnsafeMutableRawPointer?, _ offset: Int, _ prefix: UnsafePointer<CChar>?,
  _ message: UnsafePointer<CChar>?
) {
  // SAFETY: as above.
  context?.assumingMemoryBound(to: OPMLReader.self).pointee.reportPlace(max(0, offset))
}

/// One reading of a feed in XML: as it is written, or repaired if it is not well-formed.
struct XMLReading {
  private(set) var builder: FeedViewBuilder
  private(set) var isComplete = true
  /// The number of items that the end of the document has cut.
  private(set) var lostItems = 0
  private(set) var faults: Int
  private(set) var firstFault: LineFault?
  let encoding: String

  private let cleaner: XMLCleaner
  private let base: String
  private let documentBytes: Int
  private let isHTML: Bool

  /// - Throws: `.misplacedItems` and `.truncated` for a document that contains items, none of which
  ///   can be read; and the errors of `FeedView.read`.
  init(
    _ bytes: UnsafeRawBufferPointer, contentType: String?, base: String
  ) throws(DocumentError) {
    // The decoded text is released at the end of this block.
    do {
      let text = try DecodedText(bytes, contentType: contentType)
      cleaner = try XMLCleaner.clean(text.bytes)
      encoding = text.encoding
      var found = text.faults
      found.add(cleaner.faults)
      faults = found.count
      firstFault = found.first.map { LineFault($0.reason, after: text.bytes.prefix($0.offset)) }
    }
    (self.base, documentBytes) = (base, bytes.count)
    isHTML = cleaner.isHTML || contentType?.lowercased().contains("html") == true
    builder = FeedViewBuilder(base: base, documentBytes: bytes.count, isHTML: isHTML)
    guard !cleaner.output.isEmpty else {
      throw DocumentError(.unknownFormat, detail: "found text without an element of XML")
    }
    try read()
  }

  private mutating func read() throws(DocumentError) {
    var losesItems = false
    switch try XMLReader.read(cleaner.output, recovering: false, into: &builder) {
    case .wellFormed: add(builder.faults)
    case .stopped: throw failure()
    case .malformed:
      if let failure = builder.failure, failure.isOtherFormat { throw self.failure() }
      losesItems = try readRepaired()
    }
    guard builder.format != nil, builder.failure == nil else { throw failure() }
    // An item that was not read may not count as one that is gone.
    if builder.misplacedItems > 0 { builder.history.removeDeletions() }
    guard builder.itemCount == 0, builder.history.deletions.isEmpty else { return }
    if lostItems > 0 { throw DocumentError(.truncated, detail: firstFault?.text) }
    let misplaced = builder.misplacedItems + builder.foreignItems
    if misplaced > 0 || losesItems {
      let count = "found \(misplaced) elements named item or entry"
      throw DocumentError(
        .misplacedItems, detail: firstFault.map { "\(count), and on \($0.text)" } ?? count)
    }
    // A text may mention a tag of a feed, and RDF may describe anything.
    let isOther = builder.format == .rss1 && builder.hasChildren
    if !builder.hasContent, isOther || cleaner.hasTextBeforeRoot {
      throw DocumentError(
        isHTML ? .htmlPage : .unknownFormat, detail: "found no channel and no items in it")
    }
  }

  /// Repairs the text and reads it again. Returns true if items were lost.
  private mutating func readRepaired() throws(DocumentError) -> Bool {
    var repair = XMLRepair.repair(cleaner.output)
    if repair.faults.count == 0 { repair.faults.add(builder.faults) }
    let first = builder.faults.first
    add(repair.faults)
    builder = FeedViewBuilder(base: base, documentBytes: documentBytes, isHTML: isHTML)
    var outcome = XMLReader.Outcome.wellFormed
    if !repair.output.isEmpty {
      outcome = try XMLReader.read(repair.output, recovering: true, into: &builder)
    }
    if outcome == .stopped || builder.format == nil { throw failure() }
    // The repair has moved these faults to other places: that of the first one is known already.
    faults += builder.faults.count
    if let first { firstFault = .first(firstFault, cleaner.lineFault(first)) }
    // The repair may have lost items or moved one of these marks to another element.
    builder.history.removeDeletions()
    isComplete = outcome == .wellFormed && !repair.isCut && !repair.losesItems
    if repair.isItemCut {
      builder.dropLastItem()
      lostItems = 1
    }
    return repair.losesItems
  }

  /// Adds faults of the cleaned text.
  private mutating func add(_ found: TextFaults) {
    faults += found.count
    firstFault = .first(firstFault, found.first.map(cleaner.lineFault))
  }

  private func failure() -> DocumentError {
    guard var failure = builder.failure else {
      return DocumentError(.unknownFormat, detail: "found no feed in it")
    }
    if failure.code == .htmlPage, let url = FeedLinks(page: cleaner.output).links.first?.href {
      let resolved = URLReference.resolve(url, base: base)
      failure.detail = "it names the feed \(resolved.excerpt(200))"
    }
    return failure
  }
}

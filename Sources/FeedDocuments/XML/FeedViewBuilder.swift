import TextFormats

/// Builds the JSON view from the elements of a feed. Each item becomes JSON at its end tag, so
/// memory holds the view and one item.
struct FeedViewBuilder {
  private(set) var format: FeedFormat?
  private(set) var items = JSONWriter()
  private(set) var itemCount = 0
  /// The start of the last item in `items`, for removing one that is cut.
  private(set) var lastItemStart = 0
  /// The number of elements named as items are, outside of items and in no place for items.
  var misplacedItems = 0
  /// The number of elements named so beside the items, in an unknown namespace.
  var foreignItems = 0
  /// The fault that the last start tag is, which is counted with its place.
  var foundFault: String?
  /// True if the root has a child of a feed.
  var hasContent = false
  /// True if the root has any child.
  var hasChildren = false
  /// The errors that the XML parser found, at their places in its text.
  var faults = TextFaults()
  private(set) var failure: DocumentError?

  var feed = FeedViewEntry()
  var item = FeedViewEntry()
  var history = FeedHistory()
  var schedule = FeedSchedule()

  /// The open elements, the root first.
  var frames: [Frame] = []
  /// The text of open elements, each from its frame's `textStart` on.
  var buffer: [UInt8] = []
  /// The open elements of `_media` and `_podcast`.
  var nodes: [FeedViewExtensions.Node] = []
  /// The number of open elements that are kept as markup.
  var markupDepth = 0
  private(set) var enclosesInDivision = false
  /// The names of the open elements that are kept as markup, for their end tags.
  var markupNames: [String] = []
  private var liveNamespaces = 0
  private let viewBytesMax: Int
  /// The number of bytes that resolved URLs and their bases may still take. Each resolution costs
  /// as much as its base is long.
  var resolvedBytesLeft: Int
  private let base: String
  private var lastBase = URLReference.Base("")
  private var vocabularies: [UnsafePointer<UInt8>: XMLVocabulary] = [:]
  /// The prefixes without a declaration that stand for the format's namespace.
  private var adoptedPrefixes: Set<String> = []
  /// True if something outside of the document's elements says that it is HTML.
  private let isHTML: Bool

  /// - Parameters:
  ///   - base: The document's URL; empty if unknown.
  ///   - documentBytes: Bounds the view.
  ///   - isHTML: True if something outside of the document's elements says that it is HTML.
  init(base: String, documentBytes: Int, isHTML: Bool = false) {
    self.isHTML = isHTML
    self.base = base.utf8.count <= XMLLimits.baseBytesMax ? base : ""
    viewBytesMax = documentBytes * XMLLimits.growthMax + XMLLimits.growthBytesMin
    resolvedBytesLeft = viewBytesMax
  }

  // MARK: Events

  /// Returns false if reading should stop.
  mutating func start(
    name: UnsafePointer<UInt8>, prefix: UnsafePointer<UInt8>?, uri: UnsafePointer<UInt8>?,
    namespaces: Int, _ attributes: XMLAttributes
  ) -> Bool {
    liveNamespaces += namespaces
    guard liveNamespaces <= XMLLimits.namespacesMax else {
      return fail(DocumentError(.tooDeep, detail: "too many namespaces are declared at one place"))
    }
    var element = Element(
      name: String(cString: name), prefix: prefix.map { String(cString: $0) },
      vocabulary: vocabulary(uri, prefix), attributes: attributes)
    if markupDepth > 0 || frames.last.map({ $0.role.isMarkup }) == true {
      if element.isNamedAsItem, !isInItem { addMisplacedItem(inside: "a text") }
      openMarkup(element)
      push(.skipped, element, namespaces)
      return boundBuffer()
    }
    guard !frames.isEmpty else {
      adopt(&element, uri)
      // Only Atom 1.0 puts a <div> around XHTML that is no part of it.
      enclosesInDivision =
        uri.map { $0.isKnownLength && String(cString: $0).hasSuffix("2005/Atom") } ?? false
      return startRoot(element, namespaces)
    }
    push(.skipped, element, namespaces)
    adoptChild(&element, uri)
    let role = role(of: element)
    frames[frames.count - 1].role = role
    if frames.count == 2 { noteChildOfRoot(element) }
    if case .item = role { beginItem(element) } else { noteMisplaced(element) }
    return failure == nil
  }

  /// Returns false if reading should stop.
  mutating func text(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    let last = frames.count - 1
    guard last >= 0 else { return true }
    let isMarkup = frames[last].role.isMarkup
    if markupDepth > 0 || isMarkup && (frames[last].isInline || frames[last].content == .xhtml) {
      appendEscaped(text)
    } else if frames[last].role.keepsText {
      buffer.append(contentsOf: text)
    }
    return boundBuffer()
  }

  /// Bounds the text of open elements like the view, which it becomes part of.
  private mutating func boundBuffer() -> Bool {
    guard buffer.count <= viewBytesMax else {
      return fail(
        DocumentError(
          .tooLarge, detail: "one of its XML elements has more than \(viewBytesMax) bytes of text"))
    }
    return failure == nil
  }

  mutating func end() {
    guard let frame = frames.popLast() else { return }
    liveNamespaces -= frame.namespaces
    if markupDepth > 0 {
      closeMarkup(frame)
      return
    }
    switch frame.role {
    case .item: finishItem()
    case .field(let field): finish(field, frame)
    case .markup(let field): finish(field, frame)
    case .author: finishAuthor(frame)
    case .flat: finishFlat(frame)
    case .node: finishNode(frame)
    case .image: finishImage(frame)
    case .wrapper, .feed, .skipped: break
    }
    if frame.role.keepsText { buffer.removeSubrange(frame.textStart...) }
  }

  mutating func fail(_ error: DocumentError) -> Bool {
    failure = error
    return false
  }

  // MARK: Elements

  /// Returns the vocabulary of a namespace. libxml2 keeps one copy of each URI, so its address
  /// identifies it while the document is read.
  private mutating func vocabulary(
    _ uri: UnsafePointer<UInt8>?, _ prefix: UnsafePointer<UInt8>?
  ) -> XMLVocabulary {
    guard let uri else {
      if let prefix, adoptedPrefixes.contains(String(cString: prefix)) {
        return format == .atom ? .atom : format == .rss ? .rss : .rdfSite
      }
      return XMLVocabulary(uri: nil, prefix: prefix.map { String(cString: $0) })
    }
    if let known = vocabularies[uri] { return known }
    guard uri.isKnownLength else { return .other }
    let vocabulary = XMLVocabulary(uri: String(cString: uri), prefix: nil)
    if vocabularies.count < XMLLimits.namespacesMax { vocabularies[uri] = vocabulary }
    return vocabulary
  }

  /// Treats an unknown namespace of the root as that of the format: some feeds declare their own.
  private mutating func adopt(_ root: inout Element, _ uri: UnsafePointer<UInt8>?) {
    guard root.vocabulary == .other, root.local == "rss" || root.local == "feed" else { return }
    adopt(&root, uri, as: root.local == "rss" ? .rss : .atom)
  }

  /// Treats an unknown namespace of the elements of RSS as that of the format, such as those of
  /// early versions.
  private mutating func adoptChild(_ element: inout Element, _ uri: UnsafePointer<UInt8>?) {
    guard element.vocabulary == .other, format == .rss || format == .rss1, frames.count >= 2
    else { return }
    let isUnprefixed = element.prefix == nil || element.prefix == "rss"
    switch (frames[frames.count - 2].role, element.local) {
    case (.wrapper, "channel"), (.wrapper, "item"): break
    case (.wrapper, "image") where isUnprefixed, (.feed, "item") where isUnprefixed: break
    default: return
    }
    adopt(&element, uri, as: format == .rss ? .rss : .rdfSite)
  }

  private mutating func adopt(
    _ element: inout Element, _ uri: UnsafePointer<UInt8>?, as vocabulary: XMLVocabulary
  ) {
    element.vocabulary = vocabulary
    if let uri {
      vocabularies[uri] = vocabulary
    } else if let prefix = element.prefix {
      adoptedPrefixes.insert(prefix)
    }
  }

  private mutating func push(_ role: Role, _ element: Element, _ namespaces: Int) {
    var base = frames.last?.base ?? self.base
    if let declared = element.attributes.base {
      let resolved = resolve(declared, base: base)
      let scheme = URLReference.scheme(of: resolved)?.lowercased()
      if resolved.utf8.count <= XMLLimits.baseBytesMax,
        ["http", "https", "ftp", nil].contains(scheme)
      {
        base = resolved
      }
    }
    frames.append(
      Frame(role: role, base: base, namespaces: namespaces, textStart: buffer.count))
  }

  private mutating func startRoot(_ element: Element, _ namespaces: Int) -> Bool {
    switch (element.vocabulary, element.local) {
    case (_, "rss"): format = .rss
    case (_, "rdf"): format = .rss1
    case (.rdfSite, "channel"): format = .rss1
    case (.rss, "channel") where element.name == "channel": format = .rss
    case (.atom, "feed"), (.rss, "feed"), (.atom, "entry"): format = .atom
    case (_, "html"), (.xhtml, _): return fail(DocumentError(.htmlPage))
    case _ where isHTML: return fail(DocumentError(.htmlPage))
    default:
      return fail(
        DocumentError(
          .unknownFormat,
          detail: "found XML with the root element \(element.name.prefix(60).debugDescription)"))
    }
    push(.wrapper, element, namespaces)
    switch element.local {
    case "feed": frames[0].role = .feed
    case "channel":
      hasContent = true
      frames[0].role = .feed
    case "entry":
      hasContent = true
      frames[0].role = .item
      beginItem(element)
    default: break
    }
    return true
  }

  /// Returns the absolute URL. Returns the reference itself if it is too long or if the document
  /// has used up the budget for resolving.
  mutating func resolve(_ reference: String, base: String) -> String {
    guard resolvedBytesLeft > 0, reference.utf8.count <= XMLLimits.referenceBytesMax else {
      return reference.trimmed
    }
    let base = parsed(base)
    let resolved = URLReference.resolve(reference, base: base)
    resolvedBytesLeft -= resolved.utf8.count + base.text.utf8.count
    return resolved
  }

  /// Returns the parsed base. The last one is cached, because neighbors mostly share it.
  mutating func parsed(_ base: String) -> URLReference.Base {
    if lastBase.text != base { lastBase = URLReference.Base(base) }
    return lastBase
  }

  // MARK: Items

  private mutating func beginItem(_ element: Element) {
    item = FeedViewEntry()
    let rdf: StaticString = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    if let about = element.attributes["about", rdf]?.trimmed, !about.isEmpty { item.id = about }
  }

  private mutating func finishItem() {
    let start = items.bytes.count
    lastItemStart = start
    items.object { item.writeItem(to: &$0) }
    itemCount += 1
    item = FeedViewEntry()
    if items.bytes.count > viewBytesMax {
      failure = DocumentError(
        .tooLarge, detail: "its items in XML become more than \(viewBytesMax) bytes of JSON")
    }
  }

  /// Removes the last item, which the end of the document has cut.
  mutating func dropLastItem() {
    guard itemCount > 0 else { return }
    items.truncate(to: lastItemStart)
    itemCount -= 1
  }
}

/// Balances the elements of a cleaned text that libxml2 has refused, so that no item is lost.
///
/// The output is well-formed: elements left open are closed with an element around them, end tags
/// without a start tag are dropped, attributes get quotes. An item that begins inside an item ends
/// it. Text after the root's end is skipped. O(length × depth).
///
/// libxml2's own recovery is no substitute: it pairs end tags with the wrong elements, so that
/// items are lost, drops attributes without quotes, and does not show which item the document's end
/// has cut.
struct XMLRepair {
  private(set) var output: [UInt8] = []
  /// The faults, at their places in the text.
  var faults = TextFaults()
  /// True if the text ends before the root does.
  private(set) var isCut = false
  /// True if the text ends inside an item.
  private(set) var isItemCut = false
  /// True if there are items after the root's end or too deep to be kept.
  private(set) var losesItems = false

  let source: UnsafeRawBufferPointer
  var position = 0
  private var open: [Name] = []
  /// The number of open elements that were too deep to be kept.
  private var dropped = 0

  struct Name: Equatable {
    /// The name as written.
    let text: String
    /// The local part in lower case.
    let local: String
    let isItem: Bool
    /// The place of the tag in the text.
    let start: Int
    /// Distinguishes most names faster than their texts do.
    private let hash: Int

    init(text: String, local: String, start: Int) {
      (self.text, self.local, self.start, hash) = (text, local, start, text.hashValue)
      isItem = local == "item" || local == "entry"
    }

    static func == (left: Name, right: Name) -> Bool {
      left.hash == right.hash && left.text == right.text
    }

    /// True if the element holds items, so that an end tag inside an item may close it.
    var holdsItems: Bool {
      switch local {
      case "channel", "rss", "rdf", "feed", "items": true
      default: false
      }
    }

    /// Returns true if items with that name may be children of the element.
    func holds(_ item: Name) -> Bool {
      holdsItems && (item.isUnprefixed || item.prefix.elementsEqual(prefix))
    }
    private var prefix: Substring.UTF8View { text.utf8.dropLast(local.utf8.count) }
    private var isUnprefixed: Bool { text.utf8.count == local.utf8.count }

    /// True if no other element of an item belongs inside the element.
    var isLeaf: Bool {
      switch local {
      case "title", "link", "guid", "id", "pubdate", "updated", "published": true
      default: false
      }
    }
  }

  /// Returns the repaired text with what was found.
  ///
  /// - Parameter text: The output of `XMLCleaner`, without comments, instructions and document
  ///   types.
  static func repair(_ text: [UInt8]) -> XMLRepair {
    text.withUnsafeBytes { bytes in
      var repair = XMLRepair(source: bytes)
      repair.run()
      return repair
    }
  }

  private init(source: UnsafeRawBufferPointer) {
    self.source = source
    output.reserveCapacity(source.count + source.count / 16)
  }

  private mutating func run() {
    var sawRoot = false
    while position < source.count, !(sawRoot && open.isEmpty) {
      let start = position
      while position < source.count, source[position] != Ascii.less { position += 1 }
      if sawRoot { output.append(contentsOf: source[start..<position]) }
      guard position < source.count else { break }
      let next = position + 1 < source.count ? source[position + 1] : 0
      if next == UInt8(ascii: "!") {
        copyCharacterData(keep: sawRoot)
      } else if next == Ascii.slash {
        readEndTag()
      } else {
        readStartTag()
        sawRoot = sawRoot || !open.isEmpty
      }
    }
    skipRest()
    isCut = !open.isEmpty || !sawRoot
    isItemCut = open.contains(where: \.isItem)
    if isCut {
      let place = open.last.map { "<\($0.text)>" } ?? "a tag"
      faults.add("the document ends inside \(place)", at: source.count)
    }
    while !open.isEmpty { close() }
  }

  /// Skips the text after the root.
  private mutating func skipRest() {
    if !source[position...].allSatisfy(Ascii.isSpace) {
      faults.add("there is text after the end of the feed", at: position)
    }
    while position < source.count, !losesItems {
      let isTag = source[position] == Ascii.less
      position += 1
      if isTag { losesItems = takeName(of: position - 1).isItem }
    }
  }

  private mutating func copyCharacterData(keep: Bool) {
    let start = position
    position = min(position + 9, source.count)
    while position < source.count {
      if source[position] == Ascii.greater, position - start >= 11,
        source[position - 1] == UInt8(ascii: "]"), source[position - 2] == UInt8(ascii: "]")
      {
        position += 1
        if keep { output.append(contentsOf: source[start..<position]) }
        return
      }
      position += 1
    }
    // The text ends inside the section: its beginning is kept and closed.
    guard keep, source.count - start >= 9 else { return }
    output.append(contentsOf: source[start...])
    output.append(contentsOf: "]]>".utf8)
    faults.add("<![CDATA[ is not closed", at: start)
  }

  // MARK: End tags

  private mutating func readEndTag() {
    let start = position
    position += 2
    let name = takeName(of: start)
    while position < source.count, source[position] != Ascii.greater,
      source[position] != Ascii.less
    {
      position += 1
    }
    // The text ends in the tag, whose name may be incomplete.
    guard position < source.count else { return }
    if source[position] == Ascii.greater { position += 1 }
    if dropped > 0 {
      // The end of an item, or of an element that holds items, ends every dropped element in it.
      guard name.isItem || name.holdsItems, open.contains(name) else {
        dropped -= 1
        return
      }
      dropped = 0
    }
    guard let partner = partner(of: name) else {
      faults.add("</\(name.text)> ends no element", at: start)
      return
    }
    closeUnfinished(downTo: partner + 1)
    close()
  }

  /// Returns the open element that the end tag closes: the innermost one of its name, but none
  /// outside of the current item, unless it holds items.
  private func partner(of name: Name) -> Int? {
    for index in open.indices.reversed() {
      if open[index] == name { return index }
      if open[index].isItem, !name.holdsItems { return nil }
    }
    return nil
  }

  /// Closes elements that have no end tag.
  private mutating func closeUnfinished(downTo count: Int) {
    while open.count > count, let name = open.last {
      faults.add("<\(name.text)> is not closed", at: name.start)
      close()
    }
  }

  private mutating func close() {
    guard let name = open.popLast() else { return }
    output.append(contentsOf: "</".utf8)
    output.append(contentsOf: name.text.utf8)
    output.append(Ascii.greater)
  }

  // MARK: Start tags

  private mutating func readStartTag() {
    let start = position
    position += 1
    let name = takeName(of: start)
    let attributes = takeAttributes(of: name)
    var isEmpty = false
    if position < source.count, source[position] == Ascii.slash {
      isEmpty = true
      position += 1
    }
    if position < source.count, source[position] == Ascii.greater {
      position += 1
    } else {
      faults.add("the tag <\(name.text) has no end", at: start)
    }
    guard !name.text.isEmpty else { return }
    closeElements(before: name)
    guard open.count < XMLLimits.depthMax, dropped == 0 else {
      dropped += isEmpty ? 0 : 1
      losesItems = losesItems || name.isItem
      faults.add("<\(name.text)> is nested too deeply", at: start)
      return
    }
    output.append(Ascii.less)
    output.append(contentsOf: name.text.utf8)
    output.append(contentsOf: attributes)
    if isEmpty { output.append(Ascii.slash) }
    output.append(Ascii.greater)
    if !isEmpty { open.append(name) }
  }

  /// Closes the elements that cannot contain this one.
  private mutating func closeElements(before name: Name) {
    if name.isItem, let outer = open.firstIndex(where: { $0 == name }) {
      closeUnfinished(downTo: outer)
      dropped = 0
    } else if name.isItem, !open.contains(where: \.isItem),
      let holder = open.lastIndex(where: { $0.holds(name) })
    {
      // An item is a child of the feed, so elements between the two were left open.
      closeUnfinished(downTo: holder + 1)
      dropped = 0
    } else if let last = open.last, last.isLeaf, name.isLeaf || name.local == "description" {
      closeUnfinished(downTo: open.count - 1)
    }
  }
}

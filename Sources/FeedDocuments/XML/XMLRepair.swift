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
  private(set) var faults = 0
  /// True if the text ends before the root does.
  private(set) var isCut = false
  /// True if the text ends inside an item.
  private(set) var isItemCut = false
  /// True if there are items after the root's end or too deep to be kept.
  private(set) var losesItems = false

  private let source: UnsafeRawBufferPointer
  private var position = 0
  private var open: [Name] = []
  /// The number of open elements that were too deep to be kept.
  private var dropped = 0

  private struct Name: Equatable {
    /// The name as written.
    let text: String
    /// The local part in lower case.
    let local: String
    let isItem: Bool
    /// Distinguishes most names faster than their texts do.
    private let hash: Int

    init(text: String, local: String) {
      (self.text, self.local, hash) = (text, local, text.hashValue)
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
    if isCut { faults += 1 }
    while !open.isEmpty { close() }
  }

  /// Skips the text after the root.
  private mutating func skipRest() {
    if !source[position...].allSatisfy(Ascii.isSpace) { faults += 1 }
    while position < source.count, !losesItems {
      let isTag = source[position] == Ascii.less
      position += 1
      if isTag { losesItems = takeName().isItem }
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
    faults += 1
  }

  // MARK: End tags

  private mutating func readEndTag() {
    position += 2
    let name = takeName()
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
      faults += 1
      return
    }
    faults += open.count - 1 - partner
    while open.count > partner { close() }
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

  private mutating func close() {
    guard let name = open.popLast() else { return }
    output.append(contentsOf: "</".utf8)
    output.append(contentsOf: name.text.utf8)
    output.append(Ascii.greater)
  }

  // MARK: Start tags

  private mutating func readStartTag() {
    position += 1
    let name = takeName()
    let attributes = takeAttributes()
    var isEmpty = false
    if position < source.count, source[position] == Ascii.slash {
      isEmpty = true
      position += 1
    }
    if position < source.count, source[position] == Ascii.greater {
      position += 1
    } else {
      faults += 1
    }
    guard !name.text.isEmpty else { return }
    closeElements(before: name)
    guard open.count < XMLLimits.depthMax, dropped == 0 else {
      dropped += isEmpty ? 0 : 1
      losesItems = losesItems || name.isItem
      faults += 1
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
      faults += open.count - outer
      while open.count > outer { close() }
      dropped = 0
    } else if let last = open.last, last.isLeaf, name.isLeaf || name.local == "description" {
      faults += 1
      close()
    }
  }

  /// Reads attributes and returns them quoted, each name once, each with a value.
  private mutating func takeAttributes() -> [UInt8] {
    var result: [UInt8] = []
    var names: Set<String> = []
    while position < source.count {
      let byte = source[position]
      if byte == Ascii.greater || byte == Ascii.less { break }
      if byte == Ascii.slash, position + 1 == source.count || source[position + 1] == Ascii.greater
      {
        break
      }
      guard Ascii.beginsName(byte) else {
        if !Ascii.isSpace(byte) { faults += 1 }
        position += 1
        continue
      }
      let name = takeName()
      let value = takeValue()
      guard let value, names.insert(name.text).inserted else {
        faults += 1
        continue
      }
      result.append(0x20)
      result.append(contentsOf: name.text.utf8)
      result.append(contentsOf: "=\"".utf8)
      for byte in value {
        if byte == Ascii.quote {
          result.append(contentsOf: "&quot;".utf8)
        } else {
          result.append(byte)
        }
      }
      result.append(Ascii.quote)
    }
    return result
  }

  private mutating func takeValue() -> Slice<UnsafeRawBufferPointer>? {
    skipSpace()
    guard position < source.count, source[position] == Ascii.equals else { return nil }
    position += 1
    skipSpace()
    guard position < source.count else { return nil }
    let quote = source[position]
    let isQuoted = quote == Ascii.quote || quote == Ascii.apostrophe
    if isQuoted { position += 1 } else { faults += 1 }
    let start = position
    while position < source.count, source[position] != Ascii.less {
      let byte = source[position]
      if isQuoted ? byte == quote : Ascii.isSpace(byte) || byte == Ascii.greater { break }
      position += 1
    }
    let value = source[start..<position]
    if isQuoted, position < source.count, source[position] == quote { position += 1 }
    return value
  }

  // MARK: Bytes

  private mutating func skipSpace() {
    while position < source.count, Ascii.isSpace(source[position]) { position += 1 }
  }

  /// Reads a name and returns one that XML allows. Bytes beyond ASCII are removed, because XML
  /// refuses names that contain anything but letters there.
  private mutating func takeName() -> Name {
    let start = position
    while position < source.count, Ascii.continuesName(source[position]) { position += 1 }
    var bytes = source[start..<position].prefix(128).filter { $0 < 0x80 }
    while let last = bytes.last, last == UInt8(ascii: ":") { bytes.removeLast() }
    let text = String(decoding: bytes.drop { !Ascii.isLetter($0) && $0 != 0x5F }, as: UTF8.self)
    let local = text.split(separator: ":").last.map { $0.lowercased() } ?? ""
    return Name(text: text, local: local)
  }
}

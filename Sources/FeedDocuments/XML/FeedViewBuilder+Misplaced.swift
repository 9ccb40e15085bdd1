// Items in places where a feed has none, and documents that are no feed.
extension FeedViewBuilder {
  mutating func noteChildOfRoot(_ element: Element) {
    hasChildren = true
    hasContent = hasContent || element.vocabulary.isFeed && isChildOfFeed(element)
  }

  mutating func noteMisplaced(_ element: Element) {
    if let container = container(ofMisplaced: element) {
      addMisplacedItem(inside: container)
    } else if isForeignItem(element) {
      foreignItems += 1
    }
  }

  /// Returns true for a channel or an item, or an image of RSS 1.0, or any element of Atom.
  private func isChildOfFeed(_ element: Element) -> Bool {
    format == .atom || ["channel", "item", "image", "items"].contains(element.local)
  }

  /// Returns what an element is in that looks like an item and is in no place for items; nil for
  /// others. Inside of an item only its children count: elements of other kinds may have lists of
  /// items of their own.
  private func container(ofMisplaced element: Element) -> String? {
    guard element.local == "item" || element.local == "entry" else { return nil }
    let parent = frames[frames.count - 2].role
    switch parent {
    case .item: return element.isNamedAsItem ? "another item" : nil
    case .wrapper, .feed: return nil
    default:
      guard element.isNamedAsItem, !isInItem else { return nil }
      if case .image = parent { return "<image>" }
      return "another element"
    }
  }

  /// Returns true for what looks like an item of the feed, but may be anything.
  private func isForeignItem(_ element: Element) -> Bool {
    guard element.local == "item" || element.local == "entry" else { return false }
    switch frames[frames.count - 2].role {
    case .wrapper, .feed: return true
    default: return false
    }
  }

  /// Returns the fault and forgets it.
  mutating func takeFoundFault() -> String? {
    defer { foundFault = nil }
    return foundFault
  }

  mutating func addMisplacedItem(inside container: String) {
    misplacedItems += 1
    foundFault = "an item is inside \(container)"
  }
}

/// Which items there are at which version: a pure value, of which any past version can be asked.
///
/// The version is the revision of the change made last. Item n of version 1 has revision n + 1;
/// only what has changed since takes memory.
struct FeedHistory: Sendable {
  let catalog: Catalog
  /// Counts how often the data set was replaced; it makes the epoch.
  private(set) var generation = 0
  private(set) var version: Int
  /// Deltas from before this version are incomplete.
  private(set) var horizon: Int
  private(set) var itemCount: Int

  private var changes: [Change] = []
  /// For each item that has changed, the positions of its changes.
  private var changesByItem: [Int: [Int]] = [:]
  private var deletedItems: [Int] = []

  private struct Change {
    var revision: Int
    var item: Int
    var isDeletion: Bool
  }

  /// An item at one version.
  struct State: Sendable, Equatable {
    var item: Int
    var revision: Int
    /// The revision that the item came with.
    var born: Int
    var isDeleted: Bool
  }

  init(catalog: Catalog) {
    self.catalog = catalog
    version = catalog.firstItems
    horizon = catalog.firstItems
    itemCount = catalog.firstItems
  }

  /// Identity of the data set.
  var epoch: String {
    var numbers = SeededNumbers(seed: catalog.seed, item: UInt64(generation))
    return String(numbers.next() >> 32, radix: 16)
  }

  var liveCount: Int { itemCount - deletedItems.count }

  // MARK: Looking

  /// The item at that version; nil if it came later. O(log changes of the item).
  func state(of item: Int, at version: Int) -> State? {
    let positions = changesByItem[item, default: []]
    let born = item < catalog.firstItems ? item + 1 : changes[positions[0]].revision
    guard born <= version else { return nil }
    let seen = positions.partition { changes[$0].revision > version }
    guard seen > 0 else { return State(item: item, revision: born, born: born, isDeleted: false) }
    let last = changes[positions[seen - 1]]
    return State(item: item, revision: last.revision, born: born, isDeleted: last.isDeletion)
  }

  /// Up to `limit` items that exist at `version`, from number `start` on; `next` is where to go on
  /// from, nil at the end.
  func listing(
    at version: Int, from start: Int, limit: Int
  ) -> (states: [State], next: Int?) {
    var states: [State] = []
    for item in start..<max(start, itemCount) {
      guard let state = state(of: item, at: version) else { break }
      if state.isDeleted { continue }
      if states.count == limit { return (states, item) }
      states.append(state)
    }
    return (states, nil)
  }

  /// Up to `limit` items whose last change up to `version` came after `since`, ordered by it;
  /// `next` is the revision to go on from, nil at the end.
  func delta(
    since: Int, at version: Int, limit: Int
  ) -> (states: [State], next: Int?) {
    var states: [State] = []
    let first = changes.partition { $0.revision > since }
    for change in changes[first...].prefix(while: { $0.revision <= version }) {
      guard let state = state(of: change.item, at: version), state.revision == change.revision
      else { continue }
      if states.count == limit { return (states, states.last?.revision) }
      states.append(state)
    }
    return (states, nil)
  }

  /// The items changed last that exist at the newest version, newest first.
  func newest(_ count: Int) -> [State] {
    var states: [State] = []
    for change in changes.reversed() where states.count < count {
      if let state = state(of: change.item, at: version), state.revision == change.revision,
        !state.isDeleted
      {
        states.append(state)
      }
    }
    for item in (0..<catalog.firstItems).reversed() where states.count < count {
      if changesByItem[item] == nil, let state = state(of: item, at: version) {
        states.append(state)
      }
    }
    return states
  }

  // MARK: Changing

  /// The changes of one advance.
  struct Advance: Equatable, Sendable {
    var changed = 0
    var added = 0
    var deleted = 0
    var restored = 0
  }

  /// Changes, adds, deletes and restores as many items as asked for, each item at most once, or as
  /// many as there are. Which ones follows from the seed and the version. Paths are changed but
  /// never deleted.
  mutating func advance(by wanted: Advance) -> Advance {
    var numbers = SeededNumbers(seed: catalog.seed &+ 0xADA, item: UInt64(version))
    let restored = Self.pick(wanted.restored, of: deletedItems, &numbers)
    var touched = Set(deletedItems)
    let deleted = pickLive(wanted.deleted, from: catalog.paths, except: &touched, &numbers)
    let changed = pickLive(wanted.changed, from: 0, except: &touched, &numbers)
    let added = Array(itemCount..<itemCount + wanted.added)

    itemCount += added.count
    for item in changed + added { append(item, isDeletion: false) }
    for item in deleted { append(item, isDeletion: true) }
    for item in restored { append(item, isDeletion: false) }
    deletedItems.removeAll(where: Set(restored).contains)
    deletedItems += deleted
    return Advance(
      changed: changed.count, added: added.count, deleted: deleted.count,
      restored: restored.count)
  }

  /// Forgets how the present version came about: older checkpoints need a full listing.
  mutating func forget() {
    horizon = version
  }

  /// Replaces the data set by one of another epoch, so that no checkpoint is good any longer.
  mutating func replace() {
    generation += 1
  }

  private mutating func append(_ item: Int, isDeletion: Bool) {
    version += 1
    changesByItem[item, default: []].append(changes.count)
    changes.append(Change(revision: version, item: item, isDeletion: isDeletion))
  }

  /// Distinct items from number `first` on that are not in `taken`, which gets them.
  private func pickLive(
    _ wanted: Int, from first: Int, except taken: inout Set<Int>, _ numbers: inout SeededNumbers
  ) -> [Int] {
    let candidates = itemCount - first
    var picked: [Int] = []
    if (wanted + taken.count) * 2 < candidates {
      while picked.count < wanted {
        let item = first + numbers.below(candidates)
        if taken.insert(item).inserted { picked.append(item) }
      }
      return picked
    }
    let free = (first..<itemCount).filter { !taken.contains($0) }
    picked = Self.pick(wanted, of: free, &numbers)
    taken.formUnion(picked)
    return picked
  }

  private static func pick(
    _ wanted: Int, of items: [Int], _ numbers: inout SeededNumbers
  ) -> [Int] {
    Array(items.shuffled(using: &numbers).prefix(wanted))
  }
}

extension RandomAccessCollection where Index == Int {
  /// The first index whose element is past the border, in a collection where all such are last.
  fileprivate func partition(where isPast: (Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = low + (high - low) / 2
      if isPast(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

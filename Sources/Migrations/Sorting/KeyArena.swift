import EntityStore

/// Keys in one block of memory of a fixed size, with a sort.
///
/// Entries grow from the bottom, the bytes of the keys from the top. The arena is full where they
/// meet.
struct KeyArena: ~Copyable {
  /// The part of a key that the sort moves. Most comparisons need only its eight bytes.
  private struct Entry {
    /// Eight bytes of the key, the first one highest, at the depth that the sort has reached.
    var word: UInt64
    var offset: UInt32
    var length: UInt16
  }

  let capacity: Int
  private(set) var count = 0
  /// The offset at which the lowest key begins.
  private var bottom: Int
  private let start: UnsafeMutableRawPointer

  // SAFETY (whole type): entries lie in 0..<count * entryBytes and keys in bottom..<capacity, which
  // `add` keeps apart. `wordBytes` zeros follow the last key, so that a word may be read anywhere.

  private static let entryBytes = MemoryLayout<Entry>.stride
  private static let wordBytes = MemoryLayout<UInt64>.size
  /// The greatest capacity: offsets are 32 bits wide.
  private static let capacityMax = 1 << 31
  /// The number of keys below which they are sorted by comparing them whole.
  private static let countOfFew = 12

  /// Allocates an empty arena.
  ///
  /// - Parameter capacity: The size in bytes. It is raised to what one key needs and limited to 2
  ///   GiB. Memory is not touched, and so not allocated by the system, before keys are stored in
  ///   it.
  init(capacity: Int) {
    let least = StoreLimits.keyBytesMax + KeyArena.entryBytes
    self.capacity = min(max(capacity, least), KeyArena.capacityMax)
    bottom = self.capacity
    start = .allocate(
      byteCount: self.capacity + KeyArena.wordBytes, alignment: MemoryLayout<Entry>.alignment)
    (start + self.capacity).initializeMemory(
      as: UInt8.self, repeating: 0, count: KeyArena.wordBytes)
  }

  deinit { start.deallocate() }

  /// Adds a key.
  ///
  /// - Parameter key: At most `StoreLimits.keyBytesMax` bytes.
  /// - Returns: False if there was no room.
  @inline(__always)
  mutating func add(_ key: UnsafeRawBufferPointer) -> Bool {
    let offset = bottom - key.count
    guard offset >= (count + 1) * KeyArena.entryBytes else { return false }
    UnsafeMutableRawBufferPointer(start: start + offset, count: key.count).copyMemory(from: key)
    (start + count * KeyArena.entryBytes).initializeMemory(
      as: Entry.self,
      to: Entry(word: 0, offset: UInt32(truncatingIfNeeded: offset), length: UInt16(key.count)))
    bottom = offset
    count += 1
    return true
  }

  mutating func removeAll() {
    count = 0
    bottom = capacity
  }

  /// The key at a position: in the order of the calls of `add`, or after `sort` in that of the
  /// keys.
  subscript(position: Int) -> UnsafeRawBufferPointer {
    let entry = entries[position]
    return UnsafeRawBufferPointer(start: start + Int(entry.offset), count: Int(entry.length))
  }

  /// Sorts the keys.
  ///
  /// - Complexity: O(n log n) comparisons of integers. Where keys have long
  ///   common prefixes, each key is also read once over the length of its prefix.
  mutating func sort() { sort(entries, from: 0) }

  private var entries: UnsafeMutableBufferPointer<Entry> {
    UnsafeMutableBufferPointer(start: start.assumingMemoryBound(to: Entry.self), count: count)
  }

  /// Sorts keys that agree in their first `depth` bytes, and are all at least that long.
  ///
  /// The keys are sorted by the next eight bytes; those that agree in these are sorted by the eight
  /// bytes that follow.
  private func sort(_ entries: UnsafeMutableBufferPointer<Entry>, from depth: Int) {
    var entries = entries
    if entries.count <= KeyArena.countOfFew { return insert(entries, from: depth) }
    for position in entries.indices {
      entries[position].word = word(of: entries[position], at: depth)
    }
    entries.sort { $0.word < $1.word }
    var first = 0
    while first < entries.count {
      let word = entries[first].word
      var end = first + 1
      while end < entries.count, entries[end].word == word { end += 1 }
      if end - first > 1 { sortEqual(.init(rebasing: entries[first..<end]), at: depth) }
      first = end
    }
  }

  /// Sorts keys whose words at `depth` are equal.
  ///
  /// A key that ends within the word is padded with zeros. It sorts before keys that have zero
  /// bytes of their own there, and of two such keys the shorter one sorts first.
  private func sortEqual(_ entries: UnsafeMutableBufferPointer<Entry>, at depth: Int) {
    let deeper = depth + KeyArena.wordBytes
    var endedCount = 0
    for position in entries.indices where entries[position].length <= deeper {
      entries.swapAt(position, endedCount)
      endedCount += 1
    }
    var ended = UnsafeMutableBufferPointer(rebasing: entries[..<endedCount])
    ended.sort { $0.length < $1.length }
    sort(UnsafeMutableBufferPointer(rebasing: entries[endedCount...]), from: deeper)
  }

  @inline(__always)
  private func word(of entry: Entry, at depth: Int) -> UInt64 {
    let missing = depth + KeyArena.wordBytes - Int(entry.length)
    let word = UInt64(
      bigEndian: (start + Int(entry.offset) + depth).loadUnaligned(as: UInt64.self))
    return missing > 0 ? word & (.max << UInt64(missing * 8)) : word
  }

  private func insert(_ entries: UnsafeMutableBufferPointer<Entry>, from depth: Int) {
    guard entries.count > 1 else { return }
    for position in 1..<entries.count {
      let entry = entries[position]
      let key = rest(of: entry, from: depth)
      var place = position
      while place > 0, compare(key, rest(of: entries[place - 1], from: depth)) < 0 {
        entries[place] = entries[place - 1]
        place -= 1
      }
      entries[place] = entry
    }
  }

  @inline(__always)
  private func rest(of entry: Entry, from depth: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: start + Int(entry.offset) + depth, count: Int(entry.length) - depth)
  }
}

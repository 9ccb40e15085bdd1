/// The positions of items in a list: a hash table over the hashes that the items have already.
struct ItemPositions: Sendable {
  private struct Slot {
    var hash = 0
    /// −1 in a slot that is free.
    var position = -1
  }

  /// A power of two of them, at most half of which are used.
  private var slots: [Slot] = []
  private var count = 0

  var isEmpty: Bool { count == 0 }

  /// Returns the position of the item with this key; `nil` if the list has none.
  ///
  /// - Parameter item: Returns the item at a position.
  func position(of key: MappedItem.Key, _ item: (Int) -> MappedItem) -> Int? {
    if slots.isEmpty { return nil }
    let slot = slots[place(of: key, item)]
    return slot.position < 0 ? nil : slot.position
  }

  /// Adds an item unless the list has one with its key.
  ///
  /// - Returns: The position of the item with the key before; `nil` if this one was added.
  mutating func insert(
    _ key: MappedItem.Key, at position: Int, _ item: (Int) -> MappedItem
  ) -> Int? {
    if 2 * (count + 1) > slots.count { grow() }
    let place = place(of: key, item)
    if slots[place].position >= 0 { return slots[place].position }
    slots[place] = Slot(hash: key.idHash, position: position)
    count += 1
    return nil
  }

  /// Returns the slot with the key, or the free one in which it belongs.
  @inline(__always)
  private func place(of key: MappedItem.Key, _ item: (Int) -> MappedItem) -> Int {
    let mask = slots.count - 1
    var place = key.idHash & mask
    while slots[place].position >= 0 {
      if slots[place].hash == key.idHash, item(slots[place].position).key == key { return place }
      place = (place + 1) & mask
    }
    return place
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: Slot(), count: max(64, 2 * old.count))
    let mask = slots.count - 1
    for slot in old where slot.position >= 0 {
      var place = slot.hash & mask
      while slots[place].position >= 0 { place = (place + 1) & mask }
      slots[place] = slot
    }
  }
}

import FeedDocuments

/// The values of a member that can be part of an id, as hashes, with the items that have them.
struct MemberValues {
  private(set) var items: [Int32] = []
  private(set) var hashes: [UInt64] = []
  private(set) var longestBytes = 0

  var count: Int { items.count }

  /// Adds a text that is not empty, or a number; ignores other values. Of two members with the same
  /// name in one item the last one counts.
  mutating func add(_ value: JSONValue, ofItem item: Int) {
    if items.last == Int32(item) {
      items.removeLast()
      hashes.removeLast()
    }
    switch value.kind {
    case .int64, .double, .unrepresentable: break
    case .string where !value.textBytes.isEmpty: break
    default: return
    }
    longestBytes = max(longestBytes, value.textBytes.count)
    var hasher = Hasher()
    hasher.combine(bytes: value.textBytes)
    items.append(Int32(item))
    // 0 stands for no value.
    hashes.append(max(1, UInt64(bitPattern: Int64(hasher.finalize()))))
  }

  /// Counts the different values. O(n log n).
  var different: Int { Self.different(hashes) }

  static func different(_ hashes: [UInt64]) -> Int {
    let sorted = hashes.sorted()
    return zip(sorted, sorted.dropFirst()).count { $0 != $1 } + (sorted.isEmpty ? 0 : 1)
  }
}

/// The number of items that have an id, and the number of different ids.
struct IdentityCount {
  var present = 0
  var different = 0
  let items: Int

  /// The items that would be rejected, or lost to another one with the same id.
  var lost: Int { items - different }

  init(_ values: MemberValues, different: Int, items: Int) {
    (self.present, self.different, self.items) = (values.count, different, items)
  }

  /// Counts the ids that each item gets from the first of several members that it has.
  init(firstOf members: [MemberValues], items: Int) {
    var ids = [UInt64](repeating: 0, count: items)
    for values in members {
      for (item, hash) in zip(values.items, values.hashes) where ids[Int(item)] == 0 {
        ids[Int(item)] = hash
      }
    }
    self.init(ids.filter { $0 != 0 }, items)
  }

  /// Counts the ids that are hashes of the values of several members, of which each item has at
  /// least one.
  ///
  /// - Parameter items: The number of items that are counted, from the first one.
  init(hashOf members: [MemberValues], items: Int) {
    var ids = [UInt64](repeating: 0, count: items)
    for (place, values) in members.enumerated() {
      for (item, hash) in zip(values.items, values.hashes) {
        guard item < items else { break }
        // The place matters: an item may have the value of another one's other member.
        ids[Int(item)] = max(1, Self.mix(ids[Int(item)], hash &+ UInt64(place)))
      }
    }
    self.init(ids.filter { $0 != 0 }, items)
  }

  private init(_ ids: [UInt64], _ items: Int) {
    (present, different, self.items) = (ids.count, MemberValues.different(ids), items)
  }

  private static func mix(_ hash: UInt64, _ value: UInt64) -> UInt64 {
    let mixed = (hash ^ value) &* 0x9E37_79B9_7F4A_7C15
    return (mixed ^ (mixed >> 29)) &* 0xBF58_476D_1CE4_E5B9
  }
}

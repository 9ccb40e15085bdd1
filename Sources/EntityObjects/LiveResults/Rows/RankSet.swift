/// A set of ranks of a list. It also numbers the other ranks of the list consecutively.
struct RankSet {
  private let ranks: [Int]

  init(_ ranks: [Int]) { self.ranks = ranks.sorted() }

  /// Returns the number of members before a rank. O(log members).
  func members(before rank: Int) -> Int { ranks.indices.partitioned { ranks[$0] >= rank } }

  /// Returns the number of other ranks before a rank. O(log members).
  func others(before rank: Int) -> Int { rank - members(before: rank) }

  /// Returns the numbers of the other ranks in `range`. O(log members).
  func others(in range: Range<Int>) -> Range<Int> {
    others(before: range.lowerBound)..<others(before: range.upperBound)
  }

  /// Returns the other rank with this number. O(log members).
  func other(_ number: Int) -> Int {
    number + ranks.indices.partitioned { ranks[$0] - $0 > number }
  }
}

/// Returns the places of a longest ascending subsequence of distinct numbers (Schensted 1961, by
/// binary search). O(n log n).
func longestAscending(_ numbers: [Int]) -> [Int] {
  // The place of the smallest number that ends a subsequence of each length.
  var ends: [Int] = []
  var previous: [Int?] = []
  for (place, number) in numbers.enumerated() {
    let length = ends.indices.partitioned { numbers[ends[$0]] >= number }
    previous.append(length > 0 ? ends[length - 1] : nil)
    if length < ends.count { ends[length] = place } else { ends.append(place) }
  }
  var places: [Int] = []
  var place = ends.last
  while let current = place {
    places.append(current)
    place = previous[current]
  }
  return places.reversed()
}

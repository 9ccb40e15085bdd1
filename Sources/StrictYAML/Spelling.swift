/// The candidate that was most likely meant by a misspelled word.
///
/// - Returns: The candidate with the fewest edits, the first of equals, or nil if even that one
///   differs in more than a third of its letters.
/// - Complexity: O(*c* · *n*²), *c* candidates of *n* letters; words over 64 letters are no typos.
func nearest(to word: String, among candidates: [String]) -> String? {
  let lengthMax = 64
  let letters = Array(word.lowercased().unicodeScalars.prefix(lengthMax + 1))
  guard letters.count <= lengthMax else { return nil }
  var best: (candidate: String, edits: Int)?
  for candidate in candidates {
    let other = Array(candidate.lowercased().unicodeScalars.prefix(lengthMax + 1))
    let editsMax = max(1, max(letters.count, other.count) / 3)
    guard other.count <= lengthMax, abs(letters.count - other.count) <= editsMax else { continue }
    let edits = editDistance(letters, other)
    if edits <= editsMax, edits < best?.edits ?? .max { best = (candidate, edits) }
  }
  return best?.candidate
}

/// Insertions, deletions, replacements and swaps of neighbors that turn one word into the other.
private func editDistance(_ first: [Unicode.Scalar], _ second: [Unicode.Scalar]) -> Int {
  var beforeLast: [Int] = []
  var last = Array(0...second.count)
  for row in 0..<first.count {
    var current = [row + 1]
    for column in 0..<second.count {
      let replaced = last[column] + (first[row] == second[column] ? 0 : 1)
      var edits = min(replaced, last[column + 1] + 1, current[column] + 1)
      if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
        edits = min(edits, beforeLast[column - 1] + 1)
      }
      current.append(edits)
    }
    (beforeLast, last) = (last, current)
  }
  return last[second.count]
}

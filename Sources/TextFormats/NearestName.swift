/// Suggestions for names that do not exist.
package enum NearestName {
  /// Returns the name that a misspelled word most likely stands for.
  ///
  /// - Returns: The name with the fewest edits, the first of equals; `nil` if it has more than two
  ///   edits, or more than one for a word of up to four letters. Case is ignored.
  /// - Complexity: O(names × letters²); words of more than 64 letters get no suggestion.
  package static func of(_ word: String, among names: [String]) -> String? {
    let word = Array(word.lowercased().prefix(lettersMax + 1))
    guard word.count <= lettersMax else { return nil }
    let most = word.count <= 4 ? 1 : 2
    var nearest: (name: String, distance: Int)?
    for name in names {
      let letters = Array(name.lowercased().prefix(lettersMax + most + 1))
      guard abs(letters.count - word.count) <= most else { continue }
      let distance = distance(word, letters)
      if distance <= min(most, (nearest?.distance ?? .max) - 1) { nearest = (name, distance) }
    }
    return nearest?.name
  }

  private static let lettersMax = 64

  /// Returns `did you mean "title"?`, or the other advice if no name is similar.
  package static func advice(
    on word: String, among names: [String], otherwise: String
  ) -> String {
    of(word, among: names).map { "did you mean \"\($0)\"?" } ?? otherwise
  }

  /// Returns the number of insertions, deletions, replacements and swaps of neighbors that convert
  /// one word into the other (optimal string alignment distance).
  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for i in left.indices {
      var row = [i + 1]
      for j in right.indices {
        var least = min(last[j] + (left[i] == right[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
          least = min(least, beforeLast[j - 1] + 1)
        }
        row.append(least)
      }
      (beforeLast, last) = (last, row)
    }
    return last[right.count]
  }
}

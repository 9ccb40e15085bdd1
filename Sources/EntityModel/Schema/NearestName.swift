/// The name that somebody may have meant by one that is not there.
package enum NearestName {
  /// - Returns: The name with the fewest differences, if it has at most two; of a word of up to
  ///   four letters at most one. Small and capital letters are not told apart.
  package static func of(_ word: String, among names: [String]) -> String? {
    let most = word.count <= 4 ? 1 : 2
    let word = Array(word.lowercased())
    var nearest: (name: String, distance: Int)?
    for name in names {
      let letters = Array(name.lowercased())
      // A longer difference than counts is not measured: the word may be a megabyte.
      guard abs(letters.count - word.count) <= most else { continue }
      let distance = distance(word, letters)
      if distance <= min(most, (nearest?.distance ?? .max) - 1) { nearest = (name, distance) }
    }
    return nearest?.name
  }

  /// `did you mean "title"?`, or else the advice given.
  package static func advice(
    on word: String, among names: [String], otherwise: String
  ) -> String {
    of(word, among: names).map { "did you mean \"\($0)\"?" } ?? otherwise
  }

  /// The letters to insert, remove, change, or swap with their neighbor to make one word of the
  /// other (Damerau and Levenshtein, each letter touched once).
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

import TextFormats

/// The content of every item, computed from (seed, index, revision): a million items take no
/// memory.
///
/// Items are numbered: the learning paths first, then the episodes of version 1, then the
/// episodes that were added later, in that order.
struct Catalog: Sendable {
  let seed: UInt64
  let paths: Int
  /// Episodes of version 1.
  let episodes: Int

  /// Items of version 1.
  var firstItems: Int { paths + episodes }

  func kind(of item: Int) -> String { item < paths ? "LearningPath" : "Episode" }

  func id(of item: Int) -> String {
    item < paths ? "lp:\(item + 1)" : "ep:\(number(of: item))"
  }

  /// When the item got that revision. Revisions are 37 seconds apart, and the last one of version
  /// 1 is from `Timestamps.start`.
  func updatedAt(_ item: Int, revision: Int) -> String {
    var numbers = numbers(item, revision)
    return Timestamps.rfc3339(
      seconds: seconds(of: revision), milliseconds: numbers.below(1_000))
  }

  /// Writes the item's attributes as of that revision; `born` is the revision it came with.
  func writeAttributes(of item: Int, revision: Int, born: Int, to writer: inout JSONWriter) {
    if item < paths {
      writePath(item, revision: revision, to: &writer)
    } else {
      writeEpisode(item, revision: revision, born: born, to: &writer)
    }
  }

  /// Returns true if the server has values of the user for the item, as for one in 40.
  func hasUserValues(_ item: Int) -> Bool {
    var numbers = userNumbers(item)
    return item >= paths && numbers.below(40) == 0
  }

  /// Writes the user's values of an item that has some: stamps, progress, and now and then a
  /// value that was cleared.
  func writeUserValues(of item: Int, to writer: inout JSONWriter) {
    var numbers = userNumbers(item)
    _ = numbers.next()
    let stamp = Timestamps.rfc3339(seconds: Timestamps.start - numbers.below(5_000_000))
    writer.string("id", id(of: item))
    writer.number("rev", 1 + numbers.below(100))
    switch numbers.below(3) {
    case 0: writer.string("favoriteAt", stamp)
    case 1: writer.literal("favoriteAt", "null")
    default: writer.string("watchLaterAt", stamp)
    }
    if numbers.below(2) == 0 {
      writer.string("watchedAt", stamp)
      writer.literal("progress", "0." + (1 + numbers.below(99)).padded(to: 2))
    }
  }

  /// The path that the episode belongs to, counted from 0, and its place in it, from 1. One
  /// episode in six belongs to none. Places are contiguous as long as nothing is deleted.
  func place(of item: Int) -> (path: Int, position: Int)? {
    guard paths > 0 else { return nil }
    let later = item - firstItems
    if later >= 0 {
      let path = later % paths
      return (path, firstRank(of: path + 1) - firstRank(of: path) + later / paths + 1)
    }
    let number = number(of: item)
    guard number % 6 != 0 else { return nil }
    let rank = number - 1 - (number - 1) / 6
    let path = ((rank + 1) * paths - 1) / episodesInPaths
    return (path, rank - firstRank(of: path) + 1)
  }

  private var episodesInPaths: Int { episodes - episodes / 6 }

  /// Returns the rank of the path's first episode among those of version 1 that are in paths.
  private func firstRank(of path: Int) -> Int {
    path * episodesInPaths / paths
  }

  private func number(of item: Int) -> Int { item - paths + 1 }

  private func seconds(of revision: Int) -> Int {
    Timestamps.start + (revision - firstItems) * 37
  }

  private func numbers(_ item: Int, _ revision: Int = 0) -> SeededNumbers {
    SeededNumbers(seed: seed &+ UInt64(revision) &* 0x9E6D_5A1F, item: UInt64(item))
  }

  private func userNumbers(_ item: Int) -> SeededNumbers {
    SeededNumbers(seed: ~seed, item: UInt64(item))
  }
}

// MARK: Attributes

extension Catalog {
  private func writePath(_ item: Int, revision: Int, to writer: inout JSONWriter) {
    var fixed = numbers(item)
    var changing = numbers(item, revision)
    let text = Text(from: &fixed)
    writer.string("title", text.title(from: Words.pathTitles, number: nil, &fixed))
    writer.string("summary", text.summary(&changing))
    writer.number("position", item + 1)
    writer.string("url", "https://example.org/paths/\(item + 1)")
  }

  private func writeEpisode(
    _ item: Int, revision: Int, born: Int, to writer: inout JSONWriter
  ) {
    var fixed = numbers(item)
    var changing = numbers(item, revision)
    let text = Text(from: &fixed)
    let place = place(of: item)
    writer.string(
      "title", text.title(from: Words.episodeTitles, number: place?.position, &fixed))
    writer.string("summary", text.summary(&changing))
    writer.number("type", [1, 2, 2, 3][fixed.below(4)])
    writer.number("duration", 180 + fixed.below(3_000) + changing.below(60))
    writer.string("url", "https://example.org/episodes/\(number(of: item))")
    if let place {
      writer.string("path", id(of: place.path))
      writer.number("position", place.position)
    }
    let age = item < firstItems ? 86_400 * (1 + fixed.below(400)) : 0
    writer.string("publishedAt", Timestamps.rfc3339(seconds: seconds(of: born) - age))
  }

  /// The language and the topics of one item.
  private struct Text {
    let isChinese: Bool
    let topic: String
    let other: String

    init(from numbers: inout SeededNumbers) {
      isChinese = numbers.below(2) == 0
      topic = Self.text(numbers.pick(Words.topics), isChinese)
      other = Self.text(numbers.pick(Words.topics), isChinese)
    }

    func title(
      from patterns: [Words.Topic], number: Int?, _ numbers: inout SeededNumbers
    ) -> String {
      let title = fill(numbers.pick(patterns))
      guard let number else { return title }
      return isChinese ? "第\(number)讲：\(title)" : "\(number). \(title)"
    }

    func summary(_ numbers: inout SeededNumbers) -> String {
      let sentences = [Words.openings, Words.middles, Words.endings].map {
        fill(numbers.pick($0))
      }
      return sentences.joined(separator: isChinese ? "" : " ")
    }

    private func fill(_ pattern: Words.Topic) -> String {
      var filled = ""
      for character in Self.text(pattern, isChinese) {
        switch character {
        case "%": filled += topic
        case "&": filled += other
        default: filled.append(character)
        }
      }
      return filled
    }

    private static func text(_ topic: Words.Topic, _ isChinese: Bool) -> String {
      isChinese ? topic.chinese : topic.english
    }
  }
}

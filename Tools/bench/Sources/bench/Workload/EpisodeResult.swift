import CEpisodes

/// The rows that a C candidate read last, in C structs. One thread at a time may use it.
final class EpisodeResult {
  let result: UnsafeMutablePointer<episode_result>

  /// Allocates room for the rows.
  ///
  /// - Parameter capacity: The largest number of rows of a read.
  /// - Throws: `outOfMemory`.
  init(capacity: Int = 1000) throws {
    guard let result = episode_result_create(capacity) else {
      throw BenchError(.outOfMemory, "no memory for \(capacity) rows")
    }
    self.result = result
  }

  deinit { episode_result_destroy(result) }

  var count: Int { result.pointee.count }

  // SAFETY: C has filled `count` rows, or cards, and their texts live as long as `result`.
  var episodes: [Episode] {
    UnsafeBufferPointer(start: result.pointee.rows, count: count).map { Episode($0) }
  }

  var cards: [Card] {
    UnsafeBufferPointer(start: result.pointee.cards, count: count).map { Card($0) }
  }
}

/// Passes the bytes of `string` to C. They are valid during the call only.
func withText(_ string: String, _ body: (episode_text) -> Int32) -> Int32 {
  var string = string
  return string.withUTF8 { utf8 in
    // SAFETY: C reads `length` bytes during the call only and keeps no pointer.
    utf8.withMemoryRebound(to: CChar.self) {
      body(episode_text(bytes: $0.baseAddress, length: UInt32($0.count)))
    }
  }
}

extension HomeList {
  /// The kind of list and its learning path, as the C functions take them.
  var forC: (kind: episode_list, path: String) {
    switch self {
    case .recent: (episode_list_recent, "")
    case .favorites: (episode_list_favorites, "")
    case .watchLater: (episode_list_watch_later, "")
    case .free: (episode_list_free, "")
    case .histories: (episode_list_history, "")
    case .learningPath(let path): (episode_list_path, path)
    }
  }
}

extension ScanFilter {
  var forC: episode_filter {
    episode_filter(duration_at_least: Int64(durationAtLeast), progress_above: progressAbove)
  }
}

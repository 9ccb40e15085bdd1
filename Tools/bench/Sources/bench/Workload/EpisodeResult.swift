import CEpisodes

/// What a C candidate has read last, as it lies in C structs. One thread at a time.
final class EpisodeResult {
  let result: UnsafeMutablePointer<episode_result>

  /// - Parameter capacity: The most rows of a read.
  init(capacity: Int = 1000) throws {
    guard let result = episode_result_create(capacity) else {
      throw BenchError(.outOfMemory, "no memory for \(capacity) rows")
    }
    self.result = result
  }

  deinit { episode_result_destroy(result) }

  var count: Int { result.pointee.count }

  // SAFETY: C has filled `count` rows, or cards, and what they point to lives as long as `result`.
  var episodes: [Episode] {
    UnsafeBufferPointer(start: result.pointee.rows, count: count).map { Episode($0) }
  }

  var cards: [Card] {
    UnsafeBufferPointer(start: result.pointee.cards, count: count).map { Card($0) }
  }
}

/// Passes the bytes of `string` to C for the length of the call.
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
  /// For C: the kind of list, and its learning path.
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

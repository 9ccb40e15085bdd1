/// The six lists of the home page. Dates sort newest first.
enum HomeList: Equatable {
  /// All episodes, by `updatedAt`.
  case recent
  /// The episodes that have the date, by that date.
  case favorites, watchLater, histories
  /// The episodes of `freeType`, by `updatedAt`.
  case free
  /// The episodes of one learning path, by `position`, lowest first.
  case learningPath(String)
}

/// Two fields of an episode, as a line of a list shows them.
struct Card: Equatable {
  let title: String
  let updatedAt: Double
}

/// The filter of the scan. No index covers its attributes.
struct ScanFilter {
  var durationAtLeast = 1800
  var progressAbove = 0.5
}

/// New progress for one episode.
struct ProgressChange {
  let id: String
  let progress: Double
}

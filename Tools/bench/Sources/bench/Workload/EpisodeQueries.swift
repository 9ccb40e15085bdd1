/// The six lists of the home page; dates sort newest first.
enum HomeList: Equatable {
  /// All, by `updatedAt`.
  case recent
  /// Those with the date, by it.
  case favorites, watchLater, histories
  /// Those of `freeType`, by `updatedAt`.
  case free
  /// One learning path, by `position`, lowest first.
  case learningPath(String)
}

/// Two fields of an episode: what a line of a list shows.
struct Card: Equatable {
  let title: String
  let updatedAt: Double
}

struct ScanFilter {
  var durationAtLeast = 1800
  var progressAbove = 0.5
}

struct ProgressChange {
  let id: String
  let progress: Double
}

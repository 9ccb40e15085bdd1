import CEpisodes

/// The seeded data set and the upsert pages that are drawn from it. The same seed and the same
/// calls give the same rows on every machine.
final class Workload {
  let seed: UInt64
  private let storage: OpaquePointer

  /// Generates `rows` episodes in memory, about 600 bytes each.
  ///
  /// - Throws: `outOfMemory`.
  init(rows: Int, seed: UInt64) throws {
    guard let storage = episode_rows_create(rows, seed) else {
      throw BenchError(.outOfMemory, "could not generate \(rows) rows")
    }
    self.seed = seed
    self.storage = storage
  }

  deinit { episode_rows_destroy(storage) }

  var count: Int { episode_rows_count(storage) }
  var pathCount: Int { episode_rows_path_count(storage) }

  /// Returns rows by their position in arrival order.
  func rows(_ range: Range<Int>) -> Rows {
    // SAFETY: `storage` holds `count` rows and never moves or changes them while it lives, and the
    // result keeps this workload alive.
    let all = UnsafeBufferPointer(start: episode_rows_all(storage), count: count)
    return Rows(UnsafeBufferPointer(rebasing: all[range]), of: self)
  }

  /// Returns the row at a position in arrival order.
  func episode(_ position: Int) -> Episode {
    withAllRows { Episode($0[position]) }
  }

  /// Passes all rows in arrival order, as C holds them.
  func withAllRows<Result>(
    _ body: (UnsafeBufferPointer<episode_row>) throws -> Result
  ) rethrows -> Result {
    // SAFETY: the same as in `rows`; the pointer is valid during the call only.
    try withExtendedLifetime(self) {
      try body(UnsafeBufferPointer(start: episode_rows_all(storage), count: count))
    }
  }

  /// Draws the next upsert page. Its rows include the changes of all pages drawn before.
  func nextPage(_ kind: PageKind, rows: Int) throws -> Rows {
    guard let page = episode_rows_next_page(storage, kind.raw, rows) else {
      throw BenchError(.outOfMemory, "could not draw a page of \(rows) rows")
    }
    // SAFETY: the page holds `rows` rows and lives as long as `storage`.
    return Rows(UnsafeBufferPointer(start: page, count: rows), of: self)
  }
}

/// The way in which the rows of an upsert page are drawn.
enum PageKind {
  case random
  /// From the 2,000 most recently updated rows.
  case hot

  fileprivate var raw: episode_page_kind {
    self == .random ? episode_page_random : episode_page_hot
  }
}

/// Rows in the two forms that the candidates take. Both exist before any clock starts.
struct Rows {
  let forC: UnsafeBufferPointer<episode_row>
  let episodes: [Episode]
  /// The owner of the memory that `forC` points into.
  private let workload: Workload

  fileprivate init(_ forC: UnsafeBufferPointer<episode_row>, of workload: Workload) {
    self.forC = forC
    self.workload = workload
    episodes = forC.map { Episode($0) }
  }
}

/// All rows in arrival order, in chunks. It measures how long it took to create them, so that this
/// time can be subtracted from that of a load.
final class RowFeed: Sequence, IteratorProtocol {
  let workload: Workload
  private let chunk: Int
  private var position = 0
  private(set) var ownTime = Duration.zero

  init(_ workload: Workload, chunk: Int) {
    self.workload = workload
    self.chunk = chunk
  }

  func next() -> Rows? {
    guard position < workload.count else { return nil }
    let end = Swift.min(position + chunk, workload.count)
    var rows: Rows?
    ownTime += ContinuousClock().measure { rows = workload.rows(position..<end) }
    position = end
    return rows
  }
}

/// The generator splitmix64, which generates the data set, too.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

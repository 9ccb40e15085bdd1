// The operations of `bench compare`.
extension Operation {
  // MARK: Loads

  static let bulkLoad = Operation("bulk load, arrival order", "rows/s", .higher, .notSlower)
  static let loadMemory = Operation("  peak own memory", "MB")
  static let fileSize = Operation("  file size", "MB")
  static let deferringLoad = Operation(
    "load, indexes built afterwards", "rows/s", .higher, .notSlower)
  /// - Parameter rows: The rows of the load. Only the indexes of a million are larger than the
  ///   caches, and only that load has a bar.
  static func loadGain(rows: Int) -> Operation {
    Operation(
      "  times SQLite C in arrival order", "times", .higher,
      rows >= 1_000_000 ? .atLeastItself(3) : nil)
  }
  static let deferringLoadMemory = Operation("  peak own memory, indexes afterwards", "MB")
  static let deferringFileSize = Operation(
    "  file size, indexes built afterwards", "MB", .lower, .atMost(1.6, .sqlite))

  // MARK: Reads

  static let get = Operation("get by string id", "ns", .lower, .notSlower)
  static let lists = Operation("six lists of 20, median", "us", .lower, .notSlower)
  static func list(_ title: String) -> Operation {
    Operation("  \(title)", "us", .lower, .notSlower)
  }
  static let allCards = Operation("six lists of 20, two fields, median", "us", .lower, .notSlower)
  static func cards(_ title: String) -> Operation {
    Operation("  \(title), two fields", "us", .lower, .notSlower)
  }
  static let allCardsInPlace = Operation(
    "six lists of 20, two fields in place, median", "us", .lower, inPlace)
  static let thousand = Operation("recent 1,000", "us", .lower, .notSlower)
  static let thousandCards = Operation("recent 1,000, two fields", "us", .lower, .notSlower)
  static let thousandCardsInPlace = Operation(
    "recent 1,000, two fields in place", "us", .lower, inPlace)
  static let scan = Operation("scan with a filter, no index", "rows/s", .higher, ofAllRows)
  static let sum = Operation("sum over all rows", "us", .lower, ofAllRows)
  static let count = Operation("count by an indexed value", "us", .lower, ofAllRows)
  static let group = Operation("group by it", "us", .lower, ofAllRows)
  static let coldOpen = Operation("open to first page, cache dropped", "ms", .lower, .notSlower)
  static let openMemory = Operation("  own memory then", "MB")

  // MARK: Writes

  static let randomPages = Operation("upsert 100 random rows", "commits/s", .higher, .notSlower)
  static let hotPages = Operation("upsert 100 hot rows", "commits/s", .higher, .twoFlushes)
  static let largePages = Operation("upsert 1,000 random rows", "commits/s", .higher, .notSlower)
  static let fileSizeAfter = Operation("  file size after upserts", "MB")
  static let batchUpdate = Operation("batch update", "rows/s", .higher, .notSlower)
  static let batchDelete = Operation("batch delete", "rows/s", .higher, .notSlower)
  static func tinyWrites(_ producers: Producers) -> Operation {
    let title = "tiny writes, "
    switch producers {
    case .thread: return Operation(title + "1 producer", "writes/s", .higher, .twoFlushes)
    case .tasks(1): return Operation("  awaited by a task", "writes/s", .higher)
    case .tasks(let count):
      return Operation(title + "\(count) producers", "writes/s", .higher, .notSlower)
    }
  }
  static let busyMedian = Operation("recent 20 beside a writer, median", "us", .lower, .notSlower)
  static let busyTail = Operation("recent 20 beside a writer, p99", "us", .lower, .notSlower)

  private static let inPlace = Bar.atMost(2, .raw)
  private static let ofAllRows = Bar.atLeast(2, .sqlite)
}

extension Operation {
  // MARK: Loads

  static let bulkLoad = Operation(
    "bulk load, arrival order", "rows/s", .higher,
    [
      Target(.atLeast(10, .grdb)), Target(.atLeast(2, .sqlite)),
      Target(.atMost(2, .raw, operation: "bulk load, sorted")),
    ])
  static let loadMemory = Operation("  peak own memory", "MB", .lower, [Target(.atMostItself(150))])
  static let fileSize = Operation(
    "  file size", "MB", .lower,
    [
      Target(.atMost(1.4, .sqlite)), Target(.atMost(1.1, .raw, operation: "  file size, sorted")),
    ])
  static let sortedLoad = Operation("bulk load, sorted", "rows/s", .higher)
  static let sortedFileSize = Operation("  file size, sorted", "MB")

  // MARK: Reads

  static let get = Operation(
    "get by string id", "ns", .lower,
    [
      Target(.atLeast(6, .grdbCached)), Target(.atLeast(60, .grdb)), Target(.atLeast(1.4, .sqlite)),
      Target(.atMost(1.8, .raw)),
    ])
  static func list(_ title: String) -> Operation { Operation("  \(title)", "us") }
  static let lists = Operation(
    "six lists of 20, median", "us", .lower,
    [Target(.atLeast(14, .grdb)), Target(.atLeast(2.2, .sqlite)), Target(.atMost(2.5, .raw))])
  static func cards(_ title: String) -> Operation { Operation("  \(title), two fields", "us") }
  static let allCards = Operation(
    "six lists of 20, two fields, median", "us", .lower,
    [Target(.atLeast(15, .grdb)), Target(.atMost(1.5, .raw))])
  static let thousand = Operation(
    "recent 1,000", "us", .lower,
    [Target(.atLeast(4.5, .grdb)), Target(.atLeast(1.3, .sqlite)), Target(.atMost(2.2, .raw))])
  static let thousandCards = Operation(
    "recent 1,000, two fields", "us", .lower,
    [Target(.atLeast(5, .grdb)), Target(.atMost(1.8, .raw))])
  static let scan = Operation(
    "scan with a filter, no index", "rows/s", .higher,
    [Target(.atLeast(2.5, .sqlite)), Target(.atMost(1.5, .raw))])
  static let sum = Operation(
    "sum over all rows", "us", .lower, [Target(.atLeast(1.7, .sqlite)), Target(.atMost(1.3, .raw))])
  static let count = Operation(
    "count by an indexed value", "us", .lower,
    [Target(.atLeast(1000, .sqlite)), Target(.atMostItself(5))])
  static let group = Operation(
    "group by it", "us", .lower, [Target(.atLeast(1000, .sqlite)), Target(.atMostItself(5))])
  static let coldOpen = Operation(
    "open to first page, cache dropped", "ms", .lower,
    [Target(.atLeast(3, .grdb)), Target(.atMost(2, .raw))])
  static let openMemory = Operation("  own memory then", "MB")

  // MARK: Writes

  static let randomPages = Operation(
    "upsert 100 random rows", "commits/s", .higher,
    [Target(.atLeast(1.4, .grdb)), Target(.atLeast(1, .sqlite)), Target(.atMost(1.25, .raw))])
  static let hotPages = Operation(
    "upsert 100 hot rows", "commits/s", .higher,
    [
      Target(.atLeast(1.3, .sqlite), rows: 100_000), Target(.atLeast(4, .grdb), rows: 100_000),
      Target(.atMost(1.25, .raw), rows: 100_000),
    ])
  static let largePages = Operation(
    "upsert 1,000 random rows", "commits/s", .higher,
    [Target(.atLeast(1.4, .sqlite), rows: 100_000), Target(.atMost(1.25, .raw), rows: 100_000)])
  static let fileSizeAfter = Operation("  file size after upserts", "MB")
  static let batchUpdate = Operation("batch update", "rows/s", .higher, batchTargets)
  static let batchDelete = Operation("batch delete", "rows/s", .higher, batchTargets)
  static func tinyWrites(_ producers: Int) -> Operation {
    Operation(
      producers == 1 ? "tiny writes, 1 producer" : "tiny writes, \(producers) producers",
      "writes/s", .higher,
      producers == 64 ? [Target(.atLeast(3, .sqlite)), Target(.atMost(1.3, .raw))] : [])
  }
  static let busyMedian = Operation("recent 20 beside a writer, median", "us")
  static let busyTail = Operation(
    "recent 20 beside a writer, p99", "us", .lower,
    [Target(.atLeast(4, .sqlite)), Target(.atLeast(20, .grdb)), Target(.atMost(2, .raw))])

  private static let batchTargets = [
    Target(.atLeast(1.7, .sqlite)), Target(.atLeast(3, .grdb)), Target(.atMost(1.5, .raw)),
  ]
}

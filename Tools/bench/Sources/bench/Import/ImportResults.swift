/// The samples of `bench import`, one per round.
struct ImportResults {
  private let rows: Int
  var measurements = Measurements()

  init(rows: Int) { self.rows = rows }

  mutating func add(_ seconds: Double, to operation: Operation) {
    measurements.add(Double(rows) / seconds, to: operation, of: .mooring)
  }
}

// What `bench import` measures.
extension Operation {
  static let loadByStore = Operation("load by Store, 2,000 per commit", "rows/s", .higher)
  static let wholeImport = Operation(
    "import, read back", "rows/s", .higher,
    [Target(.atLeast(0.4, .mooring, operation: loadByStore.title))])
  static let importedObjects = Operation("  copy and write", "rows/s", .higher)
  static let importVerification = Operation("  read back", "rows/s", .higher)
  static let importMemory = Operation(
    "  peak of own memory", "MB", .lower, [Target(.atMostItself(150))])
  static let importAgain = Operation("import again, nothing changed", "rows/s", .higher)
}

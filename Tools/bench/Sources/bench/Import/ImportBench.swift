import ArgumentParser
import Foundation
import Mooring

/// Measures imports of an SQLite file, and a load of the same rows.
struct ImportBench: BenchPart {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Measures the import of newsboat's cache, and a load of the same records.")

  @Option(help: "Rows of the file, of 1.3 KB each.") var rows = 200_000
  @Option(help: "Rounds; the median is shown.") var rounds = 5
  @Flag(help: "Import once, without the load and the comparison: for a profiler.") var alone = false
  @Option(help: "The seed of the rows.") var seed: UInt64 = 42
  @OptionGroup var setting: SettingOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard rows >= 1000, rows <= 5_000_000 else {
      throw ValidationError("--rows must be from 1000 to 5000000")
    }
    guard rounds > 0 else { throw ValidationError("--rounds must be positive") }
  }

  func measure() async throws -> [Section] {
    let file = FeedItemFile(rows: setting.quick ? 5_000 : rows, seed: seed)
    let rounds = setting.quick || alone ? 1 : rounds
    let scratch = try setting.scratch(needing: file.rows * 8_000)
    defer { scratch.remove() }
    let source = try scratch.emptyFolder("source").appending(path: "cache.db").path
    try file.write(to: source)
    var results = ImportResults(rows: file.rows)
    for round in 1...rounds {
      reportProgress("imports: round \(round) of \(rounds)")
      sync()
      let raw = try scratch.emptyFolder("raw")
      if !alone { try await load(file, into: raw, &results) }
      sync()
      let folder = try scratch.emptyFolder("import")
      try importFile(source, into: folder, scratch, file, &results)
      if !alone { try compare(raw, folder, file) }
    }
    return [
      Section(
        title: "imports",
        scope: "\(counted(file.rows, "rows")) of newsboat, \(counted(rounds, "rounds"))",
        rows: file.rows, measurements: results.measurements.all)
    ]
  }

  /// Loads the same records with `Store`, from memory, in commits of 2,000.
  private func load(
    _ file: FeedItemFile, into folder: URL, _ results: inout ImportResults
  ) async throws {
    let store = try open(folder)
    var time = 0.0
    for chunk in file.chunks(of: 2_000) {
      let items = chunk.map(\.item)
      time += try await seconds {
        try await store.write(author: "import") { transaction in
          for item in items { try transaction.insert(item) }
        }
      }
    }
    results.add(time, to: .loadByStore)
  }

  /// Imports the file twice. The second import finds nothing new.
  private func importFile(
    _ source: String, into folder: URL, _ scratch: ScratchFolder, _ file: FeedItemFile,
    _ results: inout ImportResults
  ) throws {
    let store = try open(folder)
    let mapping = try MappingText(Array(FeedItem.mapping.utf8), file: "map.yaml")
    func run(_ operation: Operation) throws -> (ImportReport, ImportStages) {
      releaseFreeMemory()
      let stages = try ImportStages()
      var options = LegacyFile.Options()
      options.scratchFolder = try scratch.emptyFolder("copy").path
      options.progress = { stages.record($0) }
      let start = ContinuousClock.now
      let report = try LegacyFile(source, options).run(mapping, in: store)
      results.add((ContinuousClock.now - start).seconds, to: operation)
      guard report.isBalanced, report.rejected == 0 else {
        throw BenchError(.mismatch, "the import is not balanced")
      }
      return (report, stages)
    }
    let (first, stages) = try run(.wholeImport)
    results.add(stages.objects, to: .importedObjects)
    results.add(stages.verification, to: .importVerification)
    results.measurements.add(megabytes(stages.memory), to: .importMemory, of: .mooring)
    if alone { return }
    let (second, _) = try run(.importAgain)
    let written = [first.entities.map(\.written.new), second.entities.map(\.written.unchanged)]
    guard written == [[Int64(file.rows)], [Int64(file.rows)]] else {
      throw BenchError(.mismatch, "of \(file.rows) rows \(written) were new, then unchanged")
    }
  }

  /// Compares the records of the load with those of the import.
  ///
  /// - Throws: `mismatch` with the first difference.
  private func compare(_ raw: URL, _ imported: URL, _ file: FeedItemFile) throws {
    let (raw, imported) = (try open(raw), try open(imported))
    let counts = try [raw, imported].map { try $0.read { try $0.count(of: "Item") } }
    guard counts == [file.rows, file.rows] else {
      throw BenchError(.mismatch, "the stores have \(counts) records of \(file.rows)")
    }
    for chunk in file.chunks(of: 10_000) {
      for (number, item) in chunk where number % 97 == 1 || number == file.rows {
        let id = ObjectID(entity: FeedItem.entityName, number: Int64(number))
        let found = try [raw, imported].map { try $0.read { try $0.get(FeedItem.self, id) } }
        guard found == [item, item] else {
          throw BenchError(.mismatch, "record \(number) differs from the row in the file")
        }
      }
    }
  }

  private func open(_ folder: URL) throws -> Store {
    var options = Store.Options()
    options.mapSize = 16 << 30
    return try Store.open(
      at: folder.path,
      migrations: [
        MigrationSource(embedded: [("0001_items", Array(FeedItem.migration.utf8))]),
        .legacyImport,
      ], migrate: .ifEmpty, requiring: [FeedItem.self], options: options)
  }
}

/// The samples of `bench import`: one per operation and round.
struct ImportResults {
  private let rows: Int
  var measurements = Measurements()

  init(rows: Int) { self.rows = rows }

  mutating func add(_ seconds: Double, to operation: Operation) {
    measurements.add(Double(rows) / seconds, to: operation, of: .mooring)
  }
}

// The operations of `bench import`.
extension Operation {
  static let loadByStore = Operation("load by Store, 2,000 per commit", "rows/s", .higher)
  static let wholeImport = Operation("import, read back", "rows/s", .higher)
  static let importedObjects = Operation("  copy and write", "rows/s", .higher)
  static let importVerification = Operation("  read back", "rows/s", .higher)
  static let importMemory = Operation("  peak of own memory", "MB")
  static let importAgain = Operation("import again, nothing changed", "rows/s", .higher)
}

import ArgumentParser
import Dispatch
import EntityModel
import EntityStore
import Foundation
import Synchronization

/// What migrations take, beside raw LMDB in C that does the same.
struct MigrationBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "What migrations take: a new attribute, an index while others read and write.")

  @Option(help: "Episodes in the store.") var rows = 1_000_000
  @Option(help: "Rounds; the median is shown.") var rounds = 3
  @Option(help: "Where the temporary folder is made (default: the system's).") var dir: String?

  func run() throws {
    do {
      let lines = try blocking { try await measure() }
      print(lines.joined(separator: "\n"))
    } catch let error as BenchError {
      FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
      throw ExitCode(error.code.rawValue)
    }
  }

  private func measure() async throws -> [String] {
    let parent = dir.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
    let scratch = try ScratchFolder(in: parent, needing: rows * 4_000)
    defer { scratch.remove() }
    let workload = try Workload(rows: rows, seed: 42)
    func feed() -> RowFeed { RowFeed(workload, chunk: 10_000) }
    let raw = try RawLMDBCandidate()
    try raw.open(in: scratch.emptyFolder("raw"))
    _ = try await raw.sortedLoad(feed())
    let folder = try scratch.emptyFolder("mooring")
    let mooring = MooringCandidate()
    try mooring.open(in: folder)
    try await mooring.bulkLoad(feed())
    let ids = workload.rows(0..<min(rows, 100_000)).episodes.map(\.id)
    var table = Table()
    var version = 0
    for _ in 0..<rounds {
      version += 1
      let added = version
      let add = "addAttribute: { to: Episode, name: extra\(version), type: int64, default: 3 }"
      table.add(
        "add a defaulted attribute, ms", mooring: 1_000 * (try migrate(folder, version, add)))

      let size = try mooring.fileSize()
      var rawSize = try raw.fileSize()
      table.add(
        "index, two keys, alone, s", raw: try await seconds { try raw.buildIndex(rows: rows) })
      version += 1
      let watch = try migrateWatched(folder, version, index(version))
      table.add("index, two keys, alone, s", mooring: watch.seconds)
      table.add(
        "largest files while building / before", mooring: Double(watch.bytes) / Double(size))
      rawSize = try raw.fileSize() - rawSize

      let rawIdle = try await latencies(of: raw, ids) { usleep(1_000_000) }
      let rawBusy = try await latencies(of: raw, ids) { try raw.buildIndex(rows: rows) }
      table.add("point get, p99, idle, µs", raw: rawIdle.at(0.99) * 1e6)
      table.add("point get, p99, while building, µs", raw: rawBusy.at(0.99) * 1e6)
      let idle = try await latencies(of: mooring, ids) { usleep(1_000_000) }
      version += 1
      let step = index(version)
      let busy = try await latencies(of: mooring, ids) { _ = try migrate(folder, version, step) }
      table.add("point get, p99, idle, µs", mooring: idle.at(0.99) * 1e6)
      table.add("point get, p99, while building, µs", mooring: busy.at(0.99) * 1e6)

      version += 1
      let puts = try withPuts(folder) { _ = try migrate(folder, version, index(version)) }
      table.add("another process's put while building, p50, ms", mooring: puts.at(0.5))
      table.add("another process's put while building, p99, ms", mooring: puts.at(0.99))
      table.add("another process's put while building, longest, ms", mooring: puts.longest)

      let retype = "retypeAttribute: { on: Episode, name: extra\(added), type: string }"
      version += 1
      table.add("retype an attribute, s", mooring: try migrate(folder, version, retype))
    }
    return table.lines
  }

  private func index(_ version: Int) -> String {
    "createIndex: { on: Episode, name: extra\(version), keys: [duration, updatedAt] }"
  }

  /// - Returns: Seconds.
  private func migrate(_ folder: URL, _ version: Int, _ step: String) throws -> Double {
    try migrateWatched(folder, version, step).seconds
  }

  private func migrateWatched(
    _ folder: URL, _ version: Int, _ step: String
  ) throws -> (seconds: Double, bytes: Int) {
    let store = try openStore(folder, lines: version, step)
    let largest = Mutex(0)
    var options = MigrationOptions()
    options.progress = { _ in
      let bytes = (try? sizeOfFiles(in: folder)) ?? 0
      let scratch = (try? sizeOfFiles(in: folder.appending(path: "scratch"))) ?? 0
      largest.withLock { $0 = max($0, bytes + scratch) }
    }
    let start = ContinuousClock.now
    let report = try store.migrate(options)
    let time = (ContinuousClock.now - start).seconds
    guard report.migrations.count == 1 else {
      throw BenchError(.candidate, "nothing was migrated")
    }
    return (time, largest.withLock { $0 })
  }

  /// A program that knows one line more each time.
  private func openStore(_ folder: URL, lines: Int, _ step: String) throws -> Store {
    var options = Store.Options()
    options.mapSize = 8 << 30
    let file = "line: step\(lines)\nsummary: s\nrequires: [bench@1]\nsteps:\n  - \(step)\n"
    return try Store.open(
      at: folder.path,
      migrations: [
        MigrationSource(embedded: [("0001_bench", Array(episodeMigration.utf8))]),
        MigrationSource(embedded: [("0001_step", Array(file.utf8))]),
      ], options: options)
  }

  /// Point gets in a loop on a thread of their own while the body runs.
  private func latencies(
    of candidate: any EpisodeStore, _ ids: [String], during body: () throws -> Void
  ) async throws -> Percentiles {
    // SAFETY: a candidate reads from any one thread at a time; this one reads alone.
    nonisolated(unsafe) let candidate = candidate
    let place = Atomic(0)
    let reader = LatencyReader {
      let next = place.add(7_919, ordering: .relaxed).newValue % ids.count
      guard try candidate.touchEpisode(id: ids[next]) else {
        throw BenchError(.mismatch, "\(candidate.name) has no episode \(ids[next])")
      }
    }
    let result = Result { try body() }
    let times = try reader.stop()
    try result.get()
    return times
  }

  /// Single durable puts of another process while the body runs.
  private func withPuts(_ folder: URL, during body: () throws -> Void) throws -> Percentiles {
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["put-loop", folder.path]
    let input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let result = Result { try body() }
    try input.fileHandleForWriting.close()
    let text = String(
      decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    try result.get()
    return Percentiles(text.split(separator: "\n").compactMap { Double($0) })
  }
}

/// Puts one row after another, each durable, until its input ends; then prints how long each took.
struct PutLoop: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put-loop", abstract: "Single puts until the input ends.", shouldDisplay: false)

  @Argument var folder: String

  func run() throws {
    let ended = Mutex(false)
    Thread {
      while readLine() != nil {}
      ended.withLock { $0 = true }
    }.start()
    var options = Store.Options()
    options.mapSize = 8 << 30
    let store = try Store.open(at: folder, options: options)
    let times = try blocking {
      var times: [Double] = []
      var number = 0
      while !ended.withLock({ $0 }) {
        number += 1
        let row = number % 1_000 + 1
        times.append(
          try await seconds {
            try await store.write { transaction in
              try transaction.update(ObjectID(entity: "Episode", number: Int64(row))) {
                try $0.set("progress", to: .double(Double.random(in: 0..<1)))
              }
            }
          })
        usleep(2_000)
      }
      return times
    }
    for time in times { print(time * 1_000) }
  }
}

private struct Table {
  private var names: [String] = []
  private var raw: [String: [Double]] = [:]
  private var mooring: [String: [Double]] = [:]

  mutating func add(_ name: String, raw value: Double) {
    note(name)
    raw[name, default: []].append(value)
  }

  mutating func add(_ name: String, mooring value: Double) {
    note(name)
    mooring[name, default: []].append(value)
  }

  private mutating func note(_ name: String) { if !names.contains(name) { names.append(name) } }

  var lines: [String] {
    let width = names.map(\.count).max() ?? 0
    func cell(_ values: [Double]?) -> String {
      let text =
        values.flatMap { Summary($0) }.map {
          String(format: "%.2f (%.2f–%.2f)", $0.median, $0.lowest, $0.highest)
        } ?? "–"
      return String(repeating: " ", count: max(0, 24 - text.count)) + text
    }
    return [String(repeating: " ", count: width) + cellHeader]
      + names.map { name in
        var ratio = ""
        if let own = mooring[name].flatMap({ Summary($0)?.median }),
          let other = raw[name].flatMap({ Summary($0)?.median }), other > 0
        {
          ratio = String(format: "%.2fx", own / other)
        }
        return name + String(repeating: " ", count: width - name.count) + cell(raw[name])
          + cell(mooring[name]) + "  " + ratio
      }
  }

  private var cellHeader: String {
    ["raw C", "Mooring"].map { String(repeating: " ", count: 24 - $0.count) + $0 }.joined()
      + "  ratio"
  }
}

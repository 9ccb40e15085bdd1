import Foundation
import GRDB
import Mooring

/// The same home page in a store of Mooring and in an SQLite file, with the programs that print it.
struct HomePages {
  let workload: Workload
  let folder: URL

  /// Runs both programs in turn, after a first run of each whose output is compared.
  ///
  /// - Returns: The times. If the program `mooring` does not exist, there are none for Mooring, and
  ///   the note gives the reason.
  /// - Throws: `mismatch` if the two pages differ.
  func measure(runs: Int, mooring: String, peer: String) async throws -> Measurement {
    try await fill()
    let programs: [(name: CandidateName, program: TimedProgram)] = [
      (.mooring, TimedProgram(mooring, ["home", "--store", store.path])),
      (.grdb, TimedProgram(peer, [file.path])),
    ].filter { $0.1.exists }
    let pages = try programs.map { words(of: try $0.program.run().output) }
    if pages.count == 2, pages[0] != pages[1] {
      let (own, other) = zip(pages[0], pages[1]).first { $0 != $1 } ?? ([], [])
      throw BenchError(
        .mismatch,
        """
        the home page: Mooring prints \(pages[0].count) lines, GRDB prints \(pages[1].count); the \
        first lines that differ are \(own) and \(other)
        """)
    }
    var measurement = Measurement(.home)
    if !programs.contains(where: { $0.name == .mooring }) {
      measurement.note = "not run: build the product mooring, or name it with --mooring"
    }
    for _ in 0..<runs {
      for (name, program) in programs {
        measurement.add(try program.run().seconds * 1e3, of: name)
      }
    }
    return measurement
  }

  private var store: URL { folder.appending(path: "mooring") }
  private var file: URL { folder.appending(path: "episodes.sqlite") }

  private func fill() async throws {
    let episodes = workload.rows(0..<workload.count).episodes
    let pathIDs = (0..<workload.pathCount).map { "lp:\($0)" }
    try await fillStore(episodes, pathIDs)
    try fillFile(episodes, pathIDs)
  }

  private func fillStore(_ episodes: [bench.Episode], _ pathIDs: [String]) async throws {
    let store = try Store.open(
      at: store.path, migrations: [.homeFeed], migrate: .ifEmpty,
      requiring: [HomeFeed.Episode.self, LearningPath.self])
    try await store.write { transaction in
      for (place, id) in pathIDs.enumerated() {
        var path = LearningPath(id: id, title: "Path \(place)")
        path.updatedAt = Date(timeIntervalSinceReferenceDate: Double(place))
        path.feedID = 1
        try transaction.insert(path)
      }
    }
    for first in stride(from: 0, to: episodes.count, by: 10_000) {
      let chunk = episodes[first..<min(first + 10_000, episodes.count)]
      try await store.write { transaction in
        for episode in chunk { try transaction.insert(HomeFeed.Episode(episode, feedID: 1)) }
      }
    }
    store.close()
  }

  private func fillFile(_ episodes: [bench.Episode], _ pathIDs: [String]) throws {
    let database = try EpisodePool(in: folder)
    try database.commit { database in
      try database.create(table: "learningPath") { table in
        table.primaryKey("id", .text)
        table.column("title", .text)
        table.column("updatedAt", .double).indexed()
      }
      for (place, id) in pathIDs.enumerated() {
        try database.execute(
          sql: "INSERT INTO learningPath VALUES (?, ?, ?)",
          arguments: [id, "Path \(place)", Double(place)])
      }
      for episode in episodes { try EpisodeRecord(episode).insert(database) }
    }
    _ = try database.fileSize()
    try database.pool.close()
  }

  /// Returns the words of each line. Alignment does not matter.
  private func words(of text: String) -> [[Substring]] {
    text.split(separator: "\n").map { $0.split(separator: " ") }
  }
}

import EntityModel
import Foundation
import LMDB
import Migrations
import TestSupport

@testable import EntityStore

extension PreparedWork {
  /// Commits of a store whose order is that of a commit log, which loses nothing: they are made
  /// without the flush of the meta page, and come again from the log after a loss of power.
  static let hub = PreparedWork { recorder, settings in
    try recorder.run(
      ["power-hub", recorder.path("store"), "writers=\(hubWriters)", "times=12"] + settings)
  } problems: { image, acknowledged in
    let folder = image + "/store"
    if acknowledged.contains("created") { try requireUndamaged(folder) }
    let log = MemoryCommitLog(hub: 1, parts: try parts(in: acknowledged))
    let store = try openStore(at: folder, migrations: [.items, .model], log: log)
    try store.catchUp()
    let lines = acknowledged.words(after: "set")
    var problems: [String] = []
    for writer in 0..<hubWriters {
      let found = try store.read { try RowCounters.rows(of: writer, in: $0) }
      let reported = lines.filter { $0.first == "\(writer)" }.compactMap { Int($0[1]) }.max() ?? 0
      if found < reported || found > reported + 1 {
        problems.append("writer \(writer) has \(found) rows")
      }
    }
    let (rows, wrong) = try store.read { try LargePlan.few.rows(in: $0) }
    let done = acknowledged.words(after: "done").compactMap { $0.first.flatMap { Int($0) } }
    if rows < done.last ?? 0 { problems.append("\(rows) large rows are there") }
    try await RowCounters.write(3, by: hubWriters, to: store) { _ in }
    if try store.logPosition != log.head { problems.append("the store is not at the log's end") }
    try Shadow.compare(store.environment, with: log)
    try requireClean(store)
    try requireWholePages(store)
    return problems + wrong
  }

  private static let hubWriters = 3

  /// The parts of the entries that the log had: `part ENTRY CHAIN BYTES`, without a chain for all
  /// but the last part.
  private static func parts(in acknowledged: Acknowledged) throws -> [LogPart] {
    try acknowledged.words(after: "part").map { words in
      guard words.count == 3, let sequence = UInt64(words[0]),
        let bytes = Data(base64Encoded: words[2])
      else { throw Disk.Unexplained(description: "a line of the log: \(words)") }
      return LogPart(
        sequence: sequence, bytes: Array(bytes), chain: UInt128(words[1], radix: 16))
    }
  }
}

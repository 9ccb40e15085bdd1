import EntityModel
import EntityStore
import Foundation
import Migrations
import TestSupport

extension PreparedWork {
  /// The creation of two stores in new folders: by one process, and by one that finds the files
  /// of another, which was killed before it has flushed them.
  static let creation = PreparedWork { recorder, settings in
    let folders = creationFolders.map { recorder.path($0) }
    try recorder.run(["power-create", folders[0], "number=0"] + settings)
    try recorder.runUntilFlush(["power-create", folders[1], "number=1"] + settings)
    try recorder.run(["power-create", folders[1], "number=1"] + settings)
  } problems: { image, acknowledged in
    var problems: [String] = []
    for (number, name) in creationFolders.enumerated() {
      let folder = image + "/" + name
      let isCreated = acknowledged.contains("created \(number)")
      if isCreated { try requireUndamaged(folder) }
      let store = try openStore(
        at: folder, migrations: [.items], migrate: isCreated ? .never : .ifEmpty)
      let items = try store.read { try $0.count(of: "Item") }
      if acknowledged.contains("inserted \(number)"), items != 1 {
        problems.append("\(name): \(items) items")
      }
      try await store.write { try $0.insert("Item", ["code": "second", "size": 2]) }
      try requireClean(store)
      try requireWholePages(store)
    }
    return problems
  }

  private static let creationFolders = ["new/folders/store", "other/new/store"]

  /// Writers that commit rows, alone and together.
  static func set(in root: String) async throws -> PreparedWork {
    let (writers, rows) = (3, 16)
    let items = try openStore(at: root + "/store", migrations: [.items])
    try await ItemChanges(seed: 1).prepare(items)
    return PreparedWork { recorder, settings in
      try recorder.run(
        ["power-set", recorder.path("store"), "writers=\(writers)", "times=\(rows)"] + settings)
    } problems: { image, acknowledged in
      let folder = image + "/store"
      try requireUndamaged(folder)
      let store = try openStore(at: folder, migrations: [.items], migrate: .never)
      let lines = acknowledged.words(after: "set")
      var problems: [String] = []
      for writer in 0..<writers {
        let found = try store.read { try RowCounters.rows(of: writer, in: $0) }
        let reported = lines.filter { $0.first == "\(writer)" }.compactMap { Int($0[1]) }.max() ?? 0
        // One commit may be done and not yet acknowledged.
        if found < reported || found > reported + 1 {
          problems.append("writer \(writer) has \(found) rows")
        }
      }
      try await RowCounters.write(3, by: writers, to: store) { _ in }
      try requireClean(store)
      try requireWholePages(store)
      return problems
    }
  }

  /// A batch update in chunks.
  static func batch(in root: String) async throws -> PreparedWork {
    try await BatchPlan.update.prepare(try openStore(at: root + "/store"))
    return PreparedWork { recorder, settings in
      try recorder.run(["power-batch", recorder.path("store")] + settings)
    } problems: { image, acknowledged in
      let folder = image + "/store"
      try requireUndamaged(folder)
      let store = try openStore(at: folder, migrate: .never)
      let reported = acknowledged.words(after: "done").compactMap { $0.first.flatMap { Int($0) } }
      let (done, problems) = try store.read {
        (try BatchPlan.update.done(in: $0), try BatchPlan.update.problems(in: $0))
      }
      if done < reported.last ?? 0 { return problems + ["\(done) rows are done"] }
      if done < BatchPlan.rows {
        try await BatchPlan.update.run(on: store)
        try requireClean(store)
        try requireWholePages(store)
      }
      return try problems + store.read { try BatchPlan.update.problems(in: $0) }
    }
  }
}

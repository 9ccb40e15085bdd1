import EntityModel
import EntityStore
import Migrations
import TestSupport

extension PreparedWork {
  /// Inserts whose chunks share commits of thousands of pages, by which the file grows.
  static func large(in root: String) async throws -> PreparedWork {
    _ = try openStore(at: root + "/store")
    return PreparedWork { recorder, settings in
      try recorder.run(["power-large", recorder.path("store"), "duration=60000"] + settings)
    } problems: { image, acknowledged in
      let folder = image + "/store"
      try requireUndamaged(folder)
      let store = try openStore(
        at: folder, migrate: .never, commitDuration: StoreLimits.commitDuration)
      let reported = acknowledged.words(after: "done").compactMap { $0.first.flatMap { Int($0) } }
      var (rows, problems) = try store.read { try LargePlan.growing.rows(in: $0) }
      if rows < reported.last ?? 0 { problems.append("\(rows) rows are there") }
      // The rest of it.
      if rows < LargePlan.growing.rows { try await LargePlan.growing.run(on: store) }
      let (all, wrong) = try store.read { try LargePlan.growing.rows(in: $0) }
      if all != LargePlan.growing.rows { problems.append("\(all) rows are there at the end") }
      try requireClean(store)
      try requireWholePages(store)
      return problems + wrong
    }
  }

  /// A load, which sets indexes aside and builds them at its end.
  static func load(in root: String) async throws -> PreparedWork {
    _ = try openStore(at: root + "/store", migrations: [LoadPlan.source])
    return PreparedWork { recorder, settings in
      try recorder.run(["power-load", recorder.path("store"), "duration=2"] + settings)
    } problems: { image, acknowledged in
      let folder = image + "/store"
      try requireUndamaged(folder)
      let store = try openStore(at: folder, migrations: [LoadPlan.source], migrate: .never)
      let reported = acknowledged.words(after: "items").compactMap { $0.first.flatMap { Int($0) } }
      var (rows, problems) = try store.read {
        (try $0.count(of: "Item"), try LoadPlan.problems(in: $0))
      }
      if rows < reported.last ?? 0 || rows % LoadPlan.rowsPerChunk != 0 {
        problems.append("\(rows) rows are there")
      }
      if acknowledged.lines.contains("loaded"), try !store.deferredIndexes().isEmpty {
        problems.append("indexes are set aside after the load")
      }
      // The rest of it.
      if rows < LoadPlan.rows { try await LoadPlan.run(on: store) }
      rows = try store.read { try $0.count(of: "Item") }
      if rows != LoadPlan.rows { problems.append("\(rows) rows are there at the end") }
      problems += try store.read { try LoadPlan.problems(in: $0) }
      try requireClean(store)
      try requireWholePages(store)
      return problems
    }
  }
}

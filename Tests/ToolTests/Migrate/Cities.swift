import EntityStore
import Foundation
import TestSupport
import Testing

/// A store of 30,000 cities, so many that a step takes several chunks. The commands create it once,
/// and each test gets a copy.
enum Cities {
  static let count = 30_000

  static let first = """
    line: local
    summary: Cities
    steps:
      - createEntity:
          name: City
          attributes:
            - { name: name, type: string }
            - { name: size, type: int64, default: 0 }
    """

  /// A step of each kind: online, online, catalog.
  static let second = """
    line: local
    summary: Sizes, and how they are found
    steps:
      - updateRows: { on: City, where: size >= 5, set: { size: { expression: size * 2 } } }
      - createIndex: { on: City, name: bySize, keys: [size desc] }
      - addAttribute: { to: City, name: note, type: string, optional: true }
    down:
      - dropAttribute: { on: City, name: note, destructive: true }
      - dropIndex: { on: City, name: bySize }
    """

  static let drop = """
    line: local
    summary: No names any more
    steps:
      - dropAttribute: { on: City, name: name, destructive: true }
    """

  static let bytes = Result { () throws -> [UInt8] in
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      try write(first, "0001_cities", store)
      let up = try migrate("up", store: store)
      try #require(up.status == 0, "\(up.errors)")
      var rows = "name,size\n"
      for number in 0..<count { rows += "city \(number * 7_919 % count),\(number % 10)\n" }
      let file = folder.path("cities.csv")
      try Data(rows.utf8).write(to: URL(fileURLWithPath: file))
      let insert = try batch("insert", "City", file, store: store)
      try #require(insert.status == 0, "\(insert.errors)")
      return [UInt8](try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb")))
    }
  }

  /// Writes a migration beside a store.
  static func write(_ text: String, _ name: String, _ store: String) throws {
    let folder = URL(fileURLWithPath: store).deletingLastPathComponent()
      .appendingPathComponent("migrations")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: folder.appendingPathComponent(name + ".yaml"))
  }
}

/// Runs `body` with the folder of a store of cities, which must be undamaged at the end.
///
/// - Parameter pending: Migrations beside it, from 0002 on.
func withCities<R>(pending: [String] = [], _ body: (String) throws -> R) throws -> R {
  try withTemporaryFolder { folder in
    let store = folder.path("store")
    try SampleStore.write(try Cities.bytes.get(), to: store)
    try Cities.write(Cities.first, "0001_cities", store)
    for (index, text) in pending.enumerated() {
      try Cities.write(text, "000\(index + 2)_more", store)
    }
    let result = try body(store)
    let check = try mooring("check", store: store, environment: environment(store))
    #expect(check.status == 0, "\(check.output)\(check.errors)")
    return result
  }
}

/// Migrates with the files beside the store.
func migrate(_ arguments: String..., store: String) throws -> ToolRun {
  try run("mooring", ["migrate"] + arguments, store: store, environment: environment(store))
}

func json(_ run: ToolRun) throws -> [String: Any] {
  let object = try JSONSerialization.jsonObject(with: Data(run.output.utf8))
  return try #require(object as? [String: Any], "\(run.output)\(run.errors)")
}

/// Returns the content of a store without what differs between two runs.
func contents(_ store: String) throws -> [String] {
  let commands = [
    ["records", "City"], ["index", "City", "bySize", "--format", "csv"], ["schema"],
  ]
  return try commands.map { arguments in
    let run = try run("mooring-dump", arguments, store: store)
    #expect(run.status == 0, "\(run.errors)")
    return run.output
  }
}

import Foundation
import LoopbackHTTP
import TestSupport

/// A feed of a few records with everything that output must get right.
enum SampleFeed {
  static let titles = [
    "Walk, the long \"way\"", "two\nlines\r\nthree", "日本語の題名",
    "\u{1B}[31mred\u{0}\u{7}\u{9B}2J",
    "plain",
  ]

  static func document(
    titles: [String] = titles, next: String? = nil, version: Int = 9
  ) throws -> [UInt8] {
    var entities: [[String: Any]] = titles.enumerated().map { index, title in
      let number = index + 1
      return [
        "id": "ep:\(number)", "kind": "Episode", "rev": number,
        "updatedAt": "2026-01-0\(index % 9 + 1)T00:00:00Z",
        "attrs": [
          "title": title, "type": number % 3 + 1, "duration": number * 100, "path": "lp:1",
          "position": number, "url": "https://example.org/\(number)",
        ],
      ]
    }
    entities.append([
      "id": "lp:1", "kind": "LearningPath", "rev": 8, "updatedAt": "2026-01-08T00:00:00Z",
      "attrs": ["title": "Paths", "position": 1],
    ])
    var document: [String: Any] = [
      "format": "homefeed/1", "epoch": "e1", "mode": "full", "version": version,
      "entities": entities, "checkpoint": "c\(version)",
      "user": [["id": "ep:2", "rev": 1, "progress": 0.5, "watchedAt": "2026-02-01T00:00:00Z"]],
    ]
    if let next { document["page"] = ["next": next, "index": 0] }
    let data = try JSONSerialization.data(withJSONObject: document, options: [.sortedKeys])
    return [UInt8](data)
  }

  static func server() throws -> LoopbackServer {
    let body = try document()
    return try LoopbackServer { _, connection in
      try connection.send(json(body))
    }
  }

  static func json(_ body: [UInt8]) -> Response {
    Response(headers: [("Content-Type", "application/json")], body: body)
  }
}

/// The store after one sync of the sample feed. The commands create it once, and each test gets a
/// copy.
enum SampleStore {
  private struct Made {
    let data: Data
    let url: String
  }

  private static let made = Result { () throws -> Made in
    let server = try SampleFeed.server()
    defer { server.stop() }
    return try withTemporaryFolder { folder in
      let store = folder.path("store")
      let run = try mooring("sync", server.url + "/feed", store: store)
      guard run.status == 0 else { throw StartedTool.Hangs(description: run.errors) }
      let data = try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb"))
      return Made(data: data, url: server.url + "/feed")
    }
  }

  static var bytes: [UInt8] { get throws { [UInt8](try made.get().data) } }
  static var feedURL: String { get throws { try made.get().url } }

  static func copy(to folder: String) throws {
    try write([UInt8](try made.get().data), to: folder)
  }

  static func write(_ bytes: [UInt8], to folder: String) throws {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try Data(bytes).write(to: URL(fileURLWithPath: folder + "/data.mdb"))
  }
}

/// Runs `body` with the path of a copy of the sample store.
func withSampleStore<R>(_ body: (String) throws -> R) throws -> R {
  try withTemporaryFolder { folder in
    let store = folder.path("store")
    try SampleStore.copy(to: store)
    return try body(store)
  }
}

/// Runs `body` with the path of a copy of the sample store.
func withSampleStore<R>(
  isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> R
) async throws -> R {
  try await withTemporaryFolder { folder in
    let store = folder.path("store")
    try SampleStore.copy(to: store)
    return try await body(store)
  }
}

import Foundation
import LoopbackHTTP
import SystemSupport
import TestSupport

/// A feed of full listings in pages that changes when the test requests it.
final class ServedFeed: Sendable {
  private struct State {
    /// The revision of each episode that is there.
    var revisions: [Int: Int] = [:]
    var version = 1
    var next = 0
  }

  private static let pageItems = 30

  private let server: LoopbackServer
  private let state: Shared

  private final class Shared: Sendable {
    let state = Locked(State())

    func page(_ number: Int, url: String) throws -> [UInt8] {
      let (items, version, isLast) = state.withLock { state in
        let all = state.revisions.sorted { $0.key < $1.key }
        let items = all.dropFirst(number * pageItems).prefix(pageItems)
        return (Array(items), state.version, all.count <= (number + 1) * pageItems)
      }
      let entities = items.map { number, revision -> [String: Any] in
        [
          "id": "ep:\(number)", "kind": "Episode", "rev": revision,
          "updatedAt": "2026-01-01T00:00:00Z", "attrs": ["title": title(number, revision)],
        ]
      }
      var document: [String: Any] = [
        "format": "homefeed/1", "epoch": "e1", "mode": "full", "version": version,
        "entities": entities,
      ]
      if !isLast { document["page"] = ["next": "\(url)?page=\(number + 1)", "index": number] }
      return [UInt8](try JSONSerialization.data(withJSONObject: document))
    }
  }

  init(items: Int) throws {
    let shared = Shared()
    state = shared
    server = try LoopbackServer { request, connection in
      let page = request.queryValue("page").flatMap(Int.init) ?? 0
      try connection.send(SampleFeed.json(try shared.page(page, url: "/home")))
    }
    shared.state.withLock { state in
      for number in 0..<items { state.revisions[number] = 1 }
      state.next = items
    }
  }

  var url: String { server.url + "/home" }

  /// The title of each episode, by its id.
  var titles: [String: String] {
    state.state.withLock { state in
      Dictionary(
        uniqueKeysWithValues: state.revisions.map { ("ep:\($0.key)", title($0.key, $0.value)) })
    }
  }

  /// Changes some episodes and adds one; deletes one on request.
  func advance(deletes: Bool, _ random: inout SeededRandom) {
    state.state.withLock { state in
      state.version += 1
      for number in state.revisions.keys.sorted().shuffled(using: &random).prefix(5) {
        state.revisions[number] = state.version
      }
      if deletes, let gone = state.revisions.keys.min() { state.revisions[gone] = nil }
      state.revisions[state.next] = state.version
      state.next += 1
    }
  }

  func stop() { server.stop() }
}

private func title(_ number: Int, _ revision: Int) -> String {
  "episode \(number), revision \(revision)"
}

import Foundation
import LoopbackHTTP
import TestSupport
import Testing

@testable import feed_server

@Suite struct FeedServerTests {
  private func history(
    seed: UInt64 = 7, paths: Int = 5, episodes: Int = 120
  ) -> FeedHistory {
    FeedHistory(catalog: Catalog(seed: seed, paths: paths, episodes: episodes))
  }

  /// The document that answers; nil if the answer is not a document.
  private func page(
    _ history: FeedHistory, limit: Int = 50, since: String? = nil, cursor: String? = nil
  ) throws -> HomeFeedAnswer? {
    let question = FeedPages.Question(limit: limit, since: since, cursor: cursor)
    guard case .page(let body, _, _) = FeedPages.answer(to: question, from: history) else {
      return nil
    }
    return try JSONDecoder().decode(HomeFeedAnswer.self, from: Data(body()))
  }

  /// All pages of a listing; `between` runs after each.
  private func pages(
    _ history: inout FeedHistory, limit: Int, since: String? = nil,
    between: (inout FeedHistory) -> Void = { _ in }
  ) throws -> [HomeFeedAnswer] {
    var pages = [try #require(try page(history, limit: limit, since: since))]
    while let next = pages.last?.page.next {
      between(&history)
      let cursor = try #require(
        URLComponents(string: next)?.queryItems?.first { $0.name == "cursor" }?.value)
      pages.append(try #require(try page(history, limit: limit, cursor: cursor)))
    }
    return pages
  }

  // MARK: The generator

  @Test func givesTheSameFeedForTheSameSeed() throws {
    var first = history(), second = history(), other = history(seed: 8)
    for _ in 0..<3 {
      let wanted = FeedHistory.Advance(changed: 9, added: 2, deleted: 4, restored: 1)
      #expect(first.advance(by: wanted) == second.advance(by: wanted))
      _ = other.advance(by: wanted)
    }
    let all = try pages(&first, limit: 40).flatMap(\.entities)
    #expect(try pages(&second, limit: 40).flatMap(\.entities) == all)
    #expect(try pages(&other, limit: 40).flatMap(\.entities) != all)
  }

  @Test func numbersTheEpisodesOfEachPathFromOne() throws {
    for (paths, episodes) in [(0, 10), (1, 0), (1, 50), (5, 120), (7, 100), (12, 999), (20, 3)] {
      var history = history(paths: paths, episodes: episodes)
      _ = history.advance(by: .init(added: 25))
      var positions: [Int: [Int]] = [:]
      for item in paths..<history.itemCount {
        if let place = history.catalog.place(of: item) {
          positions[place.path, default: []].append(place.position)
        }
      }
      #expect(positions.keys.allSatisfy { 0..<max(paths, 1) ~= $0 })
      for (path, positions) in positions {
        #expect(positions.sorted() == Array(1...positions.count), "path \(path) of \(paths)")
      }
    }
  }

  @Test func makesBelievableEpisodesInTwoLanguages() throws {
    var history = history(episodes: 2_000)
    let episodes = try pages(&history, limit: 500).flatMap(\.entities)
      .filter { $0.kind == "Episode" }.map { try #require($0.attrs) }
    #expect(episodes.count == 2_000)
    let chinese = episodes.count { $0.title.unicodeScalars.contains { $0.value > 0x2E80 } }
    #expect(800...1_200 ~= chinese)
    #expect(400...600 ~= episodes.count { $0.type == 1 })
    #expect(Set(episodes.map(\.type)) == [1, 2, 3])
    #expect(episodes.count { $0.path != nil } == 2_000 - 2_000 / 6)
    #expect(Set(episodes.map(\.title)).count > 1_000)
    #expect(episodes.allSatisfy { 180..<3_300 ~= ($0.duration ?? 0) && !$0.summary.isEmpty })
    let text = episodes.map { $0.title + $0.summary }.joined()
    #expect(!text.contains("%") && !text.contains("&"))
  }

  @Test func countsTheVersionByChanges() {
    var history = history()
    #expect(history.version == 125)
    let done = history.advance(by: .init(changed: 10, added: 5, deleted: 3, restored: 2))
    #expect(done == .init(changed: 10, added: 5, deleted: 3, restored: 0))
    #expect(history.version == 143)
    #expect(history.liveCount == 127)
    #expect(history.advance(by: .init(restored: 9)) == .init(restored: 3))
    #expect(history.liveCount == 130)
  }

  @Test func takesNoMoreThanThereIs() {
    var history = history(paths: 1, episodes: 4)
    #expect(history.advance(by: .init(changed: 100, deleted: 100)) == .init(changed: 1, deleted: 4))
    #expect(history.advance(by: .init(changed: 100, deleted: 1, restored: 2)).restored == 2)
    var empty = self.history(paths: 0, episodes: 0)
    #expect(empty.advance(by: .init(changed: 5, deleted: 5, restored: 5)) == .init())
    #expect(empty.advance(by: .init(added: 2)) == .init(added: 2))
  }

  // MARK: Pages

  @Test func listsEveryItemOnceWhileTheFeedGrows() throws {
    for limit in [1, 7, 125, 1_000] {
      var history = history()
      _ = history.advance(by: .init(changed: 10, deleted: 10))
      let expected = history
      let pages = try pages(&history, limit: limit) { history in
        _ = history.advance(by: .init(changed: 5, added: 3, deleted: 2, restored: 1))
      }
      let entities = pages.flatMap(\.entities)
      let wanted = expected.listing(at: expected.version, from: 0, limit: 1_000).states
      #expect(entities.map(\.id) == wanted.map { expected.catalog.id(of: $0.item) })
      #expect(entities.map(\.rev) == wanted.map(\.revision))
      #expect(Set(entities.map(\.id)).count == 115)
      #expect(pages.allSatisfy { $0.version == expected.version && $0.mode == "full" })
      #expect(pages.map(\.page.index) == Array(0..<pages.count))
      #expect(pages.dropLast().allSatisfy { $0.checkpoint == nil })
      #expect(pages.last?.checkpoint == "\(expected.version).\(expected.epoch)")
      #expect(pages[0].sections?.first?.items?.count == 10)
      #expect(pages.dropFirst().allSatisfy { $0.sections == nil })
    }
  }

  @Test(arguments: [1, 4, 1_000])
  func listsExactlyWhatChangedSinceACheckpoint(limit: Int) throws {
    var history = history()
    _ = history.advance(by: .init(changed: 20, added: 3, deleted: 8))
    let before = try entities(of: history)
    let checkpoint = Checkpoint(epoch: history.epoch, version: history.version).text
    for _ in 0..<4 {
      _ = history.advance(by: .init(changed: 9, added: 2, deleted: 3, restored: 2))
    }
    let after = try entities(of: history)

    let pages = try pages(&history, limit: limit, since: checkpoint) { history in
      _ = history.advance(by: .init(changed: 5))
    }
    let delta = pages.flatMap(\.entities)
    #expect(delta.map(\.rev) == delta.map(\.rev).sorted())
    #expect(Set(delta.map(\.id)).count == delta.count)
    #expect(pages.allSatisfy { $0.mode == "delta" && $0.sections == nil })

    var replica = before
    for entity in delta {
      let isDeleted = entity.deleted == true
      #expect(entity.attrs == nil ? isDeleted : !isDeleted)
      #expect(isDeleted || replica[entity.id] != entity, "\(entity.id) has not changed")
      replica[entity.id] = isDeleted ? nil : entity
    }
    #expect(replica == after)
  }

  private func entities(of history: FeedHistory) throws -> [String: EntityAnswer] {
    let page = try #require(try page(history, limit: 10_000))
    return Dictionary(uniqueKeysWithValues: page.entities.map { ($0.id, $0) })
  }

  @Test func requestsAFullListingWhenTheCheckpointIsInvalid() throws {
    var history = history()
    _ = history.advance(by: .init(changed: 5))
    let good = Checkpoint(epoch: history.epoch, version: 127).text
    #expect(try page(history, since: good) != nil)
    for bad in ["", "127", "x.y", "127.ffff", "124.\(history.epoch)", "999.\(history.epoch)"] {
      #expect(isResync(history, since: bad), "\(bad)")
    }
    let first = try #require(try page(history, limit: 3))
    let cursor = try #require(first.page.next?.split(separator: "=")[1].split(separator: "&")[0])
    history.forget()
    #expect(isResync(history, since: good))
    history.replace()
    #expect(isResync(history, cursor: String(cursor)))
  }

  private func isResync(
    _ history: FeedHistory, since: String? = nil, cursor: String? = nil
  ) -> Bool {
    let question = FeedPages.Question(limit: 5, since: since, cursor: cursor)
    guard case .resync = FeedPages.answer(to: question, from: history) else { return false }
    return true
  }

  // MARK: Over HTTP

  @Test func answersTheHomeFeedOverHTTP() throws {
    let service = FeedService(history: history(), pageSize: 50, folder: nil)
    let server = try LoopbackServer { try service.handle($0, $1) }
    defer { server.stop() }

    let first = try server.ask("GET /v1/home?limit=100")
    #expect(first.status == 200)
    #expect(first["content-type"] == "application/vnd.homefeed+json;version=1")
    #expect(first["link"]?.hasPrefix("</v1/home?cursor=") == true)
    let tag = try #require(first["etag"])
    #expect(tag.hasPrefix("\"h-125-"))
    let page = try JSONDecoder().decode(HomeFeedAnswer.self, from: Data(first.body))
    #expect(page.entities.count == 100)
    #expect(page.user.count > 0 && page.user.allSatisfy { $0.rev > 0 })

    for match in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
      let same = try server.ask("GET /v1/home?limit=100", ["If-None-Match: \(match)"])
      #expect(same.status == 304 && same["etag"] == tag && same.body.isEmpty)
    }
    let nothing = try server.ask("GET /v1/home?since=125.\(page.epoch)")
    #expect(nothing.status == 204)
    #expect(nothing["homefeed-checkpoint"] == "125.\(page.epoch)")

    let advance = try server.ask("POST /control/advance?changed=5&added=2&deleted=3&restored=1")
    #expect(
      advance.text == #"{"version":135,"epoch":"\#(page.epoch)","items":124,"#
        + #""changed":5,"added":2,"deleted":3,"restored":0}"#)
    #expect(try server.ask("GET /v1/home?limit=100", ["If-None-Match: \(tag)"]).status == 200)
    let delta = try server.ask("GET /v1/home?since=125.\(page.epoch)")
    #expect(
      try JSONDecoder().decode(HomeFeedAnswer.self, from: Data(delta.body)).entities.count == 10)

    let gone = try server.ask("GET /v1/home?since=1.\(page.epoch)")
    #expect(gone.status == 410 && gone.text == #"{"error":"resync"}"#)
    #expect(try server.ask("GET /v1/home?limit=0").status == 400)
    #expect(try server.ask("GET /v1/home?limit=x").status == 400)
    #expect(try server.ask("GET /v1/home?cursor=zz").status == 400)
    #expect(try server.ask("GET /v1/home?cursor=6162").status == 400)
    #expect(try server.ask("POST /control/advance?added=-1").status == 400)
    #expect(try server.ask("POST /control/advance?chnaged=1").status == 400)
    #expect(try server.ask("GET /control/advance?added=1").status == 405)
    #expect(try server.ask("DELETE /v1/home").status == 405)
    #expect(try server.ask("GET /nowhere").status == 404)
  }

  @Test func servesTheFilesOfAFolderAndNothingElse() throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "feed-server-\(UUID())")
    defer { try? FileManager.default.removeItem(at: root) }
    let folder = root.appending(path: "served")
    try FileManager.default.createDirectory(
      at: folder.appending(path: "news & more"), withIntermediateDirectories: true)
    try Data("<rss/>".utf8).write(to: folder.appending(path: "news & more/a b.xml"))
    try Data("{}".utf8).write(to: folder.appending(path: "feed.json"))
    try Data("secret".utf8).write(to: root.appending(path: "secret.txt"))
    try Data("secret".utf8).write(to: folder.appending(path: ".hidden"))
    for (name, target) in [("link.txt", "../secret.txt"), ("up", ".."), ("own.json", "feed.json")] {
      try FileManager.default.createSymbolicLink(
        atPath: folder.appending(path: name).path, withDestinationPath: target)
    }
    let served = FileFolder(path: folder.path)
    #expect(served != nil)
    let service = FeedService(history: history(), pageSize: 5, folder: served)
    let server = try LoopbackServer { try service.handle($0, $1) }
    defer { server.stop() }

    let file = try server.ask("GET /feed.json")
    #expect(file.status == 200 && file.text == "{}")
    #expect(file["content-type"] == "application/json")
    let tag = try #require(file["etag"]), modified = try #require(file["last-modified"])
    #expect(tag.hasPrefix("\"") && modified.hasSuffix(" GMT"))
    #expect(try server.ask("GET /feed.json", ["If-None-Match: \(tag)"]).status == 304)
    #expect(try server.ask("GET /feed.json", ["If-Modified-Since: \(modified)"]).status == 304)
    let tagFirst = ["If-None-Match: \"other\"", "If-Modified-Since: \(modified)"]
    #expect(try server.ask("GET /feed.json", tagFirst).status == 200)
    try Data("[]".utf8).write(to: folder.appending(path: "feed.json"))
    #expect(try server.ask("GET /feed.json", ["If-None-Match: \(tag)"]).status == 200)

    let index = try server.ask("GET /")
    #expect(index.text.contains(#"<a href="/news%20%26%20more/">news &amp; more/</a>"#))
    #expect(index.text.contains("feed.json"))
    for name in ["hidden", "link.txt", "up", "own.json"] { #expect(!index.text.contains(name)) }
    let inner = try server.ask("GET /news%20%26%20more/a%20b.xml")
    #expect(inner.text == "<rss/>" && inner["content-type"] == "application/rss+xml")

    for path in [
      "/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt",
      "/news%20%26%20more/../../secret.txt",
      "/link.txt", "/up/secret.txt", "/.hidden", "/feed.json/", "/feed.json%00", "/missing",
      "//../secret.txt", "/news%20%26%20more/%2e%2e/%2e%2e/secret.txt",
    ] {
      let answer = try server.ask("GET \(path)")
      #expect(answer.status == 404 || answer.status == 400, "\(path)")
      #expect(!answer.text.contains("secret"), "\(path)")
    }
  }

  // MARK: The command

  @Test func printsItsAddressAndEndsOnASignal() throws {
    for signal in [SIGINT, SIGTERM] {
      let process = SpawnedProcess()
      let output = Pipe()
      process.executableURL = Self.executable
      process.arguments = ["--items", "40", "--seed", "3"]
      process.standardOutput = output
      try process.run()
      var line: [UInt8] = []
      while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != 10 {
        line.append(byte)
      }
      let url = String(decoding: line, as: UTF8.self)
      let port = try #require(UInt16(url.split(separator: ":").last ?? ""))
      #expect(url == "http://127.0.0.1:\(port)")
      #expect(try HTTPAnswer.ask("GET /v1/home", port: port).status == 200)
      kill(process.processIdentifier, signal)
      process.waitUntilExit()
      #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    }
  }

  @Test(arguments: [
    ["--items", "many"], ["--bogus"], ["--items", "-1"], ["--port", "70000"], ["--page-size", "0"],
    ["--serve", "/nonexistent"], ["extra"],
  ])
  func refusesWrongArgumentsWithOneLine(arguments: [String]) throws {
    let process = SpawnedProcess()
    let errors = Pipe()
    process.executableURL = Self.executable
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = errors
    try process.run()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 64)
    #expect(text.hasPrefix("feed-server: ") && text.count { $0 == "\n" } == 1, "\(text)")
  }

  private static var executable: URL {
    Bundle.main.bundleURL.appending(path: "feed-server")
  }
}

import Foundation
import LoopbackHTTP
import TestSupport
import Testing

/// `mooring feed inspect`, and the commands that it prints.
@Suite(.serialized) struct FeedInspectTests {
  private static let talks = #"""
    {"results":[
      {"id":"a1","name":"One","link":"https://e.org/1","changed_at":"2026-11-20T10:00:00Z",
       "room":"\#u{1B}[31mred\nline","stats":{"views":7}},
      {"id":"a2","name":"Two","link":"https://e.org/2","changed_at":"2026-11-20T11:00:00Z",
       "room":"b","stats":{"views":8}}],"next":null}
    """#.replacing("\u{1B}", with: "\\u001b")

  private func withTalks(_ body: (LoopbackServer, TemporaryFolder) throws -> Void) throws {
    let server = try LoopbackServer { request, connection in
      let type = ("Content-Type", "application/json")
      switch request.path {
      case "/talks":
        try connection.send(
          Response(headers: [type, ("ETag", "\"1\"")], text: Self.talks))
      case "/feed":
        try connection.send(
          Response(text: #"{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1"}]}"#))
      case "/moved": try connection.send(Response(status: 302, headers: [("Location", "/talks")]))
      case "/bytes": try connection.send(Response(body: [0, 1, 2, 255]))
      case "/private":
        let isKnown = request.header("Authorization") == "Bearer s3cret"
        try connection.send(
          Response(status: isKnown ? 200 : 401, headers: [type], text: Self.talks))
      default: try connection.send(Response(status: 404))
      }
    }
    defer { server.stop() }
    try withTemporaryFolder { try body(server, $0) }
  }

  @Test func itReportsItsFindingsAndCreatesNoStore() throws {
    try withTalks { server, folder throws in
      let store = folder.path("store")
      let found = try mooring("feed", "inspect", server.url + "/moved", store: store)
      try #require(found.status == 0, "\(found.errors)")
      #expect(
        found.output.hasPrefix("\(server.url)/moved: JSON, 2 items at $.results[*]\n"),
        "\(found.output)")
      // Columns are as wide as they need to be.
      let output = found.output.replacing(/\x20{3,}/, with: "  ")
      for part in [
        "\nfinal url  \(server.url)/talks\n", "\nredirects  302 to \(server.url)/talks\n",
        "\netag  \"1\"\n", "\nidentity  /id, in 2 of 2 items, all different\n",
        "\nid may be  /id\n", "\ntitle may be  /name\n",
        "\nnext page  { url: /next }\n", "RFC 3339 date", "\nmapping: feed-127-0-0-1\n",
        "\n  title: /name\n", "--migration migrations",
      ] { #expect(output.contains(part), "\(part) in\n\(found.output)") }
      #expect(!found.output.contains("\u{1B}"))
      #expect(!FileManager.default.fileExists(atPath: store))
      #expect(server.requests.count == 2)
      #expect(server.requests.allSatisfy { $0.header("If-None-Match") == nil })
    }
  }

  @Test func eachCommandLeadsToTheNext() throws {
    try withTalks { server, folder throws in
      let store = folder.path("store")
      let (map, made) = (folder.path("talks.yaml"), folder.path("made"))
      let found = try mooring(
        "feed", "inspect", server.url + "/talks", "--mapping", map, "--migration", made,
        store: store)
      try #require(found.status == 0, "\(found.errors)")
      #expect(
        found.output.contains("\nwrote \(map) and \(made)/0001_feed_127_0_0_1.yaml\n"),
        "\(found.output)")
      let commands = found.lines.filter { $0.hasPrefix("  mooring ") }
        .map { $0.split(separator: " ").dropFirst().map(String.init) }
      try #require(commands.count == 2, "\(found.output)")
      for command in commands {
        let next = try run("mooring", command, store: store)
        try #require(next.status == 0, "\(command): \(next.errors)")
      }
      let sync = try mooring("sync", "--migrations", made, "--format", "csv", store: store)
      #expect(CommaSeparated.rows(of: sync.output)[1][2] == "2", "\(sync.output)\(sync.errors)")
      let rows = try mooring(
        "fetch", "Episode", "--migrations", made, "--format", "json", store: store)
      #expect(rows.output.contains(#""views":7"#), "\(rows.output)\(rows.errors)")
    }
  }

  @Test func withTheMappingAloneNoMigrationIsNeeded() throws {
    try withTalks { server, folder throws in
      let (store, map) = (folder.path("store"), folder.path("talks.yaml"))
      let url = server.url + "/talks"
      let found = try mooring("feed", "inspect", url, "--mapping", map, store: store)
      #expect(found.output.hasSuffix("  mooring feed add \(url) --mapping \(map)\n"))
      #expect(try mooring("feed", "add", url, "--mapping", map, store: store).status == 0)
      let sync = try mooring("sync", "--format", "csv", store: store)
      #expect(CommaSeparated.rows(of: sync.output)[1][2] == "2", "\(sync.output)\(sync.errors)")
    }
  }

  @Test func existingFilesAreNotOverwrittenByDefault() throws {
    try withTalks { server, folder throws in
      let (store, map) = (folder.path("store"), folder.path("talks.yaml"))
      let words = ["feed", "inspect", server.url + "/talks", "--mapping", map]
      try Data("mine".utf8).write(to: URL(fileURLWithPath: map))
      expectFailure(try run("mooring", words, store: store), 73, "\(map) is there already")
      // Nobody was asked for it.
      #expect(server.requests.isEmpty)
      #expect(try String(contentsOfFile: map, encoding: .utf8) == "mine")
      #expect(try run("mooring", words + ["--force"], store: store).status == 0)
      #expect(try String(contentsOfFile: map, encoding: .utf8).contains("mapping: "))
    }
  }

  @Test func aKnownFormatNeedsOnlyToBeAdded() throws {
    try withTalks { server, folder throws in
      let url = server.url + "/feed"
      let found = try mooring("feed", "inspect", url, store: folder.path("store"))
      #expect(
        found.output.hasSuffix(
          "JSON Feed is read by the built-in mapping json-feed/1.1; type\n  mooring feed add \(url)\n"
        ), "\(found.output)")
      let map = folder.path("own.yaml")
      let own = try mooring(
        "feed", "inspect", url, "--mapping", map, store: folder.path("store"))
      #expect(own.status == 0 && own.output.contains("wrote \(map)\n"))
      #expect(
        try mooring("feed", "add", url, "--mapping", map, store: folder.path("store")).status == 0)
    }
  }

  @Test func jsonHasAllOfIt() throws {
    try withTalks { server, folder throws in
      let found = try mooring(
        "feed", "inspect", server.url + "/talks", "--format", "json", "--entity", "Talk",
        store: folder.path("store"))
      let json = try #require(
        try JSONSerialization.jsonObject(with: Data(found.output.utf8)) as? [String: Any])
      #expect(json["path"] as? String == "$.results[*]" && json["items"] as? Int == 2)
      #expect((json["members"] as? [Any])?.count == 6)
      #expect((json["candidates"] as? [String: [String]])?["id"]?.first == "/id")
      #expect((json["migration"] as? String)?.contains("createEntity") == true)
      #expect(json["written"] as? [String] == [])
    }
  }

  @Test func theReasonOfTheIdentityIsShown() throws {
    let seasons = #"[{"ids":{"trakt":1,"tvdb":5},"n":0},{"ids":{"trakt":2},"n":0}]"#
    let flags = #"[{"isOpen":true,"n":0},{"isOpen":false,"n":0}]"#
    let server = try LoopbackServer { request, connection in
      try connection.send(Response(text: request.path == "/seasons" ? seasons : flags))
    }
    defer { server.stop() }
    try withTemporaryFolder { folder throws in
      let store = folder.path("store")
      let found = try mooring("feed", "inspect", server.url + "/seasons", store: store)
      let lines = found.output.replacing(/\x20{3,}/, with: "  ")
      #expect(lines.contains("\nidentity  /ids/trakt, in 2 of 2 items, all different\n"))
      #expect(lines.contains("\nnot the id  /ids/tvdb: 1 of 2 items have it\n"))
      #expect(lines.contains("\nid: /ids/trakt\n"), "\(found.output)")
      let none = try mooring("feed", "inspect", server.url + "/flags", store: store)
      #expect(
        none.output.contains(
          "\nno member identifies the items, so no mapping can be suggested: "
            + "/n: 1 different value in 2 items\n"), "\(none.output)")
      let json = try mooring(
        "feed", "inspect", server.url + "/seasons", "--format", "json", store: store)
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
      let identity = try #require(object["identity"] as? [String: Any])
      #expect(identity["pointers"] as? [String] == ["/ids/trakt"])
      #expect(identity["present"] as? Int == 2 && identity["different"] as? Int == 2)
      #expect(identity["reason"] as? String == "in 2 of 2 items, all different")
    }
  }

  @Test func aTokenIsSentFromAFileAndNotShown() throws {
    try withTalks { server, folder throws in
      let (url, token) = (server.url + "/private", folder.path("token"))
      try Data("s3cret\n".utf8).write(to: URL(fileURLWithPath: token))
      let store = folder.path("store")
      expectFailure(try mooring("feed", "inspect", url, store: store), 69, "refuses access")
      let found = try mooring("feed", "inspect", url, "--token-file", token, store: store)
      #expect(found.status == 0 && !found.output.contains("s3cret"))
      #expect(found.output.contains("--token-file \(token)"))
    }
  }

  @Test func mistakesEndWithTheirOwnStatus() throws {
    try withTalks { server, folder throws in
      let store = folder.path("store")
      func inspect(_ path: String, _ more: String...) throws -> ToolRun {
        try run("mooring", ["feed", "inspect", server.url + path] + more, store: store)
      }
      expectFailure(try inspect("/nothing"), 69, "there is no feed there")
      expectFailure(try inspect("/bytes"), 65, "the document cannot be read")
      expectFailure(try inspect("/talks", "--force"), 64, "--force")
      expectFailure(try inspect("/talks", "--format", "csv"), 64, "csv")
      expectFailure(try inspect("/talks", "--entity", "no name"), 64, "no name")
      expectFailure(try inspect("/talks", "--name", "No"), 64, "name of a line")
      expectFailure(
        try inspect("/talks", "--token-file", "a", "--credential", "b"), 64, "--credential")
      expectFailure(try run("mooring", ["feed", "inspect"], store: store), 64)
      expectFailure(
        try run("mooring", ["feed", "inspect", "ftp://e.org/x"], store: store), 64, "ftp")
      expectFailure(
        try inspect("/talks", "--mapping", folder.path("no/such/folder.yaml")), 73,
        "cannot be written")
    }
  }
}

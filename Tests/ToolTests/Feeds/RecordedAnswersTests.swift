import Foundation
import LoopbackHTTP
import TestSupport
import Testing

@testable import feed_server

/// Recorded answers, given again by `feed-server`.
@Suite struct RecordedAnswersTests {
  @Test func aRecordedAnswerIsSentForItsRequest() throws {
    try withRecordings { server in
      let first = try server.ask("GET /v1/talks?b=2&a=1%20x")
      #expect(first.status == 200 && first["etag"] == "W/\"1\"")
      #expect(first["content-type"] == "application/vnd.talks+json")
      // The origin is what the request names as its host.
      #expect(first["content-encoding"] == nil && first["age"] == nil)
      #expect(
        first.text
          == #"{"next":"http://127.0.0.1/v1/talks?page=2","other":"https://e.org/v1/nothing"}"#)
      #expect(first["link"] == "<http://127.0.0.1/v1/talks?page=2>; rel=\"next\"")
      #expect(try server.ask("GET /v1/talks?page=2").text == "[]")
      #expect(try server.ask("GET /v1/talks?page=3").status == 404)
      #expect(try server.ask("GET /v1/talks").status == 404)
    }
  }

  @Test func theRecordedValidatorsAreHonored() throws {
    try withRecordings { server in
      for tag in ["W/\"1\"", "\"1\"", "\"0\", W/\"1\""] {
        let answer = try server.ask("GET /v1/talks?a=1+x&b=2", ["If-None-Match: \(tag)"])
        #expect(answer.status == 404)
        let same = try server.ask("GET /v1/talks?a=1%20x&b=2", ["If-None-Match: \(tag)"])
        #expect(same.status == 304 && same.body.isEmpty && same["etag"] == "W/\"1\"")
      }
      let changed = try server.ask("GET /v1/talks?a=1%20x&b=2", ["If-None-Match: \"2\""])
      #expect(changed.status == 200)
      #expect(try server.ask("GET /v1/busy", ["If-None-Match: *"]).status == 429)
    }
  }

  @Test func aFolderWithoutAnswersIsRefused() throws {
    try withTemporaryFolder { folder in
      let run = try run(
        "feed-server", ["--recordings", folder.path("")], store: folder.path("store"))
      expectFailure(run, 64, "no NAME.meta.json is there", tool: "feed-server")
    }
  }

  private func withRecordings(_ body: (LoopbackServer) throws -> Void) throws {
    try withTemporaryFolder { folder in
      for (name, meta, text) in [
        (
          "a",
          #"""
          {"path": "/v1/talks?a=1%20x&b=2", "status": 200, "headers": {"ETag": "W/\"1\"",
           "Content-Type": "application/vnd.talks+json", "Content-Encoding": "gzip", "Age": "3",
           "Link": "<https://api.e.org/v1/talks?page=2>; rel=\"next\""}}
          """#,
          #"{"next":"https://api.e.org/v1/talks?page=2","other":"https://e.org/v1/nothing"}"#
        ), ("b/c", #"{"path": "/v1/talks?page=2", "status": 200}"#, "[]"),
        ("d", #"{"path": "/v1/busy", "status": 429, "headers": {"Retry-After": "7"}}"#, "{}"),
      ] {
        let file = folder.path("answers/\(name)")
        try FileManager.default.createDirectory(
          atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(meta.utf8).write(to: URL(fileURLWithPath: file + ".meta.json"))
        try Data(text.utf8).write(to: URL(fileURLWithPath: file + ".json"))
      }
      let service = FeedService(
        history: FeedHistory(catalog: Catalog(seed: 1, paths: 0, episodes: 0)), pageSize: 10,
        folder: nil, recordings: try RecordedAnswers(folder: folder.path("answers")))
      let server = try LoopbackServer { try service.handle($0, $1) }
      defer { server.stop() }
      try body(server)
    }
  }
}

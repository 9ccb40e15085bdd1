import Foundation
import LoopbackHTTP
import TestSupport
import Testing

/// Links and damage in a store's folder in the hands of the commands.
@Suite struct LinkedFileTests {
  private static let text = Data("a file that belongs to somebody else\n".utf8)

  /// Runs a command on a store in which one file is a link to another file.
  private func expectRefusal(
    of name: String, _ tool: String, _ arguments: [String]
  ) throws {
    try withSampleStore { store in
      let victim = URL(fileURLWithPath: store + "/../victim")
      try Self.text.write(to: victim)
      unlink(store + "/" + name)
      #expect(symlink(victim.path, store + "/" + name) == 0)
      let run = try run(tool, arguments, store: store)
      expectFailure(run, 77, "it is a symbolic link", tool: tool)
      #expect(try Data(contentsOf: victim) == Self.text, "\(tool) \(arguments)")
    }
  }

  @Test(arguments: ["data.mdb", "lock.mdb"])
  func aReadingCommandLeavesTheTargetOfALinkAlone(_ name: String) throws {
    try expectRefusal(of: name, "mooring-dump", ["records", "Episode"])
    try expectRefusal(of: name, "mooring", ["fetch", "Episode"])
  }

  @Test(arguments: ["lock.mdb", "writer.lock", "writer.turn"])
  func aWritingCommandLeavesTheTargetOfALinkAlone(_ name: String) throws {
    try expectRefusal(of: name, "mooring", ["set", "Episode", "ep:1", "progress=0.25"])
  }

  @Test func aLinkedLockOfAFeedIsRefused() throws {
    try expectRefusal(of: "sync-1.lock", "mooring", ["sync", try SampleStore.feedURL])
  }

  @Test func aStoreOfZerosIsCreatedAgain() throws {
    let server = try SampleFeed.server()
    defer { server.stop() }
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      try SampleStore.write([UInt8](repeating: 0, count: 8_192), to: store)
      let fetch = try mooring("fetch", "Episode", store: store)
      #expect(fetch.status == 69, "\(fetch.errors)")
      let sync = try mooring("sync", server.url + "/feed", store: store)
      #expect(sync.status == 0, "\(sync.errors)")
      let check = try mooring("check", store: store)
      #expect(check.status == 0, "\(check.output)")
    }
  }

  // LMDB copies as many bytes of a page as its header says, also beyond the copy. A sanitizer ends
  // the process there.
  @Test(.disabled(if: isSanitized))
  func aSyncOfADamagedStoreNeverEndsByASignal() throws {
    let body = try SampleFeed.document(version: 10)
    let server = try LoopbackServer { _, connection in
      try connection.send(SampleFeed.json(body))
    }
    defer { server.stop() }
    let sound = try SampleStore.bytes
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      for page in stride(from: 8_192, to: sound.count, by: 4_096) where sound[page + 10] == 2 {
        var bytes = sound
        // The end of the offsets lies far beyond the page.
        bytes.replaceSubrange(page + 12..<page + 14, with: [0xf0, 0xff])
        try SampleStore.write(bytes, to: store)
        let run = try mooring("sync", server.url + "/feed", store: store)
        #expect([0, 65, 78].contains(run.status), "page \(page / 4_096): \(run.errors)")
      }
      try SampleStore.write(sound, to: store)
      #expect(try mooring("check", store: store).status == 0)
    }
  }
}

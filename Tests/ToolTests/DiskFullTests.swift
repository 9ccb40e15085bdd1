import Foundation
import Glibc
import LoopbackHTTP
import TestSupport
import Testing

/// A device without room, as far as this machine lets a test mount one.
@Suite struct DiskFullTests {
  @Test func aFullDiskIsSaidAndTheStoreStaysWhole() throws {
    try withTemporaryFolder { folder in
      let device = folder.path("device")
      try FileManager.default.createDirectory(atPath: device, withIntermediateDirectories: true)
      guard mount("mooring-test", device, "tmpfs", 0, "size=256k") == 0 else {
        print("no device can be mounted here; a full disk is not tested")
        return
      }
      defer { umount2(device, Int32(MNT_DETACH)) }
      let store = device + "/store"
      let long = String(repeating: "long ", count: 40_000)
      let documents = [
        try SampleFeed.document(),
        try SampleFeed.document(titles: SampleFeed.titles + (0..<4).map { "\($0) " + long }),
      ]
      let count = Counter()
      let server = try LoopbackServer { _, connection in
        try connection.send(SampleFeed.json(documents[min(count.next(), 1)]))
      }
      defer { server.stop() }
      #expect(try mooring("sync", server.url + "/feed", store: store).status == 0)
      let before = try mooringDump("records", "Episode", store: store).output
      expectFailure(try mooring("sync", "1", store: store), 74, "no room is left")
      #expect(try mooring("check", store: store).status == 0)
      #expect(try mooringDump("records", "Episode", store: store).output == before)
      #expect(try mooring("home", store: store).status == 0)
    }
  }
}

private final class Counter: @unchecked Sendable {
  // SAFETY: `count` is touched only with the lock held.
  private let lock = NSLock()
  private var count = -1

  func next() -> Int {
    lock.withLock {
      count += 1
      return count
    }
  }
}

import Foundation
import Glibc
import LoopbackHTTP
import TestSupport
import Testing

/// Full and read-only devices, if this machine permits mounts.
@Suite struct DeviceTests {
  @Test func aFullDiskIsReportedAndTheStoreIsUndamaged() throws {
    try withTemporaryFolder { folder in
      guard let device = try folder.mountDevice(size: "384k") else { return }
      defer { unmountDevice(device) }
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

  @Test func aReadOnlyDeviceIsReadAndNotWritten() throws {
    try withTemporaryFolder { folder in
      guard let device = try folder.mountDevice(size: "1m") else { return }
      defer { unmountDevice(device) }
      let store = device + "/store"
      try SampleStore.copy(to: store)
      let isReadOnly = mount(
        "mooring-test", device, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil)
      try #require(isReadOnly == 0)
      let readers = [
        ["home"], ["fetch", "Episode"], ["check"], ["schema"], ["feed", "list"],
        ["migrate", "status"],
      ]
      for arguments in readers {
        #expect(try run("mooring", arguments, store: store).status == 0)
      }
      #expect(try mooringDump("stats", store: store).status == 0)
      expectFailure(
        try mooring("set", "Episode", "ep:1", "progress=0.5", store: store), 77, "Read-only")
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

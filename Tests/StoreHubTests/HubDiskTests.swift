import EntityModel
import EntityStore
import Foundation
import Glibc
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import StoreHub

/// Full disks, of a machine and of the server.
@Suite(
  .serialized, .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"),
  .timeLimit(.minutes(10)))
struct HubDiskTests {
  private static let item = 20_000

  @Test func aFullDiskOfAMachineLosesNothing() async throws {
    try await withHub { hub in
      // The folder of the second machine.
      guard let device = try hub.folder.mountDevice(size: "6m") else { return }
      defer { unmountDevice(device) }
      try await hub.create()
      let (first, second) = (try hub.open("first"), try hub.join("device"))
      let ballast = device + "/ballast"
      try Data(count: 2 << 20).write(to: URL(filePath: ballast))

      let written = await fill(second, "second")
      #expect(written.code == .diskFull)
      // Nothing of the refused write is in the log, and the other machine goes on.
      try first.catchUp()
      #expect(try names(of: first).count == 1 + written.count)
      var missed: StoreError.Code?
      var others = 0
      while missed == nil, others < 50 {
        try await insert(large: "other \(others)", into: first)
        others += 1
        missed = await code { try second.catchUp() }
      }
      #expect(missed == .diskFull)
      #expect(try names(of: second).count == written.count + others)

      try FileManager.default.removeItem(atPath: ballast)
      try await insert(large: "after", into: second)
      try requireSame([first, second])
      #expect(try names(of: first).count == 2 + written.count + others)
      second.close()
    }
  }

  @Test func aFullDiskOfTheServerLosesNothing() async throws {
    try await withTemporaryFolder { folder in
      guard let device = try folder.mountDevice(size: "80m") else { return }
      defer { unmountDevice(device) }
      let data = device + "/data"
      mkdir(data, 0o700)
      // The folder of a test is for its user only.
      chmod(folder.path, 0o755)
      let server = try PostgreSQLServer(data: data)
      defer { server.stop() }
      try await withHub(at: server.connectionText) { hub in
        try await hub.create()
        let (first, second) = (try hub.open("first"), try hub.join("second"))
        let ballast = device + "/ballast"
        try fillDevice(device, ballast, leaving: 1 << 20)
        let written = await fill(first, "first")
        #expect(written.code == .unreachable)
        #expect(written.error.contains("no room"), "\(written.error)")
        #expect(try names(of: first).count == 1 + written.count)
        try second.catchUp()
        #expect(try names(of: second).count == 1 + written.count)

        try FileManager.default.removeItem(atPath: ballast)
        try await insert(large: "after", into: second)
        try requireSame([first, second])
        #expect(try names(of: first).count == 2 + written.count)
      }
    }
  }

  /// Inserts large records until one is refused.
  private func fill(
    _ store: Store, _ name: String
  ) async -> (count: Int, code: StoreError.Code?, error: String) {
    for number in 0..<2_000 {
      do {
        try await insert(large: "\(name) \(number)", into: store)
      } catch {
        return (number, (error as? StoreError)?.code, "\(error)")
      }
    }
    return (2_000, nil, "never full")
  }

  private func insert(large name: String, into store: Store) async throws {
    // Bytes that the server cannot compress.
    var random = SeededRandom(seed: UInt64(name.utf8.reduce(7) { $0 &* 31 &+ Int($1) }))
    let bytes = random.bytes(count: Self.item)
    try await store.write {
      _ = try $0.insert("Sample", ["name": .string(name), "blob": .data(Data(bytes))])
    }
  }

  private func fillDevice(_ device: String, _ ballast: String, leaving free: Int) throws {
    var room = statvfs()
    statvfs(device, &room)
    try Data(count: Int(room.f_bavail) * Int(room.f_bsize) - free)
      .write(to: URL(filePath: ballast))
  }
}

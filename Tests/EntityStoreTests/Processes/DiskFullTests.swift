import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore

/// A store on a device, or under a limit, that is full.
@Suite struct DiskFullTests {
  private static let executable = childExecutable(named: "store-child")

  /// On a tmpfs of 3 MB where mounting is allowed.
  @Test func aFullDeviceIsReportedToEveryWriterAndLosesNothing() async throws {
    try await withTemporaryFolder { folder in
      guard Self.run("/bin/mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", folder.path]) else {
        print("mounting is not allowed here: the limit on file sizes stands for a full device")
        return
      }
      defer { _ = Self.run("/bin/umount", ["-l", folder.path]) }
      let ballast = folder.path("ballast")
      try Data(repeating: 1, count: 400_000).write(to: URL(fileURLWithPath: ballast))
      try await Self.fill(folder.path("store"), bytesMax: 0) {
        try FileManager.default.removeItem(atPath: ballast)
      }
    }
  }

  /// Without any right: the kernel refuses to let the file grow.
  @Test func aFileAtItsLimitIsReportedToEveryWriterAndLosesNothing() async throws {
    try await withTemporaryFolder { folder in
      try await Self.fill(folder.path("store"), bytesMax: 2_000_000) {}
    }
  }

  private static func fill(
    _ folder: String, bytesMax: Int, makeRoom: () throws -> Void
  ) async throws {
    let store = try openStore(at: folder)
    let child = try ChildProcess(executable, ["store-fill", folder, String(bytesMax)])
    #expect(child.readLine() == "full diskFull")
    #expect(child.readLine() == "reads true")
    #expect(child.readLine() == "clean true")
    try makeRoom()
    try child.writeLine("go on")
    #expect(child.readLine() == "clean true")
    #expect(child.readLine() == "reads true")
    #expect(child.waitForExit().status == 0)
    try requireClean(store)
    try requireWholePages(store)
  }

  private static func run(_ path: String, _ arguments: [String]) -> Bool {
    do {
      return try ChildProcess(URL(fileURLWithPath: path), arguments).waitForExit().status == 0
    } catch {
      return false
    }
  }
}

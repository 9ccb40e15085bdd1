import Glibc
import LMDB
import SystemSupport
import TestSupport
import Testing

/// Programming errors trap with a message. Each runs in a separate process.
@Suite struct MisuseTests {
  @Test func aTransactionUsedAfterItsScopeTraps() async throws {
    try await withTemporaryFolder { folder in
      await #expect(processExitsWith: .signal(SIGILL)) { [path = folder.path("store") as String] in
        let environment = try Environment.open(at: path, options: .init(createIfMissing: true))
        var kept: TreeReader?
        try environment.read { kept = $0 }
        _ = try environment.treeNames(in: kept!)
      }
    }
  }

  @Test func aParentUsedWhileItsNestedTransactionRunsTraps() async throws {
    try await withTemporaryFolder { folder in
      await #expect(processExitsWith: .signal(SIGILL)) { [path = folder.path("store") as String] in
        let environment = try Environment.open(at: path, options: .init(createIfMissing: true))
        let tree = try environment.makeTree()
        try environment.write { parent in
          try parent.nested { _ in try parent.put(tree, key: [1], value: [1]) }
        }
      }
    }
  }

  @Test func aWriteWithinAWriteTraps() async throws {
    try await withTemporaryFolder { folder in
      await #expect(processExitsWith: .signal(SIGILL)) { [path = folder.path("store") as String] in
        let environment = try Environment.open(at: path, options: .init(createIfMissing: true))
        try environment.write { _ in try environment.write { _ in } }
      }
    }
  }
}

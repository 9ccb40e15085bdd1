import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

/// Two processes on one store.
@Suite struct ProcessTests {
  private func child(_ arguments: String...) throws -> ChildProcess {
    try ChildProcess(childExecutable(named: "store-child"), arguments)
  }

  @Test func aReaderThatWasKilledIsCleared() throws {
    try withStore { environment in
      _ = try environment.makeTree()
      let reader = try child("lmdb-hold-reader", environment.folder)
      #expect(reader.readLine()?.hasPrefix("reading") == true)
      try #expect(environment.clearStaleReaders() == 0)
      #expect(reader.kill() == .init(status: SIGKILL, wasSignal: true))
      try #expect(environment.clearStaleReaders() > 0)
    }
  }

  @Test func aWaitingWriterFailsAtItsDeadlineAndNamesTheHolder() throws {
    try withStore(
      options: .init(
        mapSize: 1 << 30, createIfMissing: true, writerDeadline: .milliseconds(50))
    ) { environment in
      _ = try environment.makeTree()
      let holder = try child("lmdb-hold-writer", environment.folder)
      #expect(holder.readLine()?.hasPrefix("writing") == true)
      do {
        try environment.write { _ in }
        Issue.record("the lock was not held")
      } catch let error as StorageError {
        #expect(error.code == .busy)
        #expect(error.context.contains { $0 == ("pid", String(holder.pid)) })
        #expect(error.context.contains { $0.0 == "command" && $0.1.contains("store-child") })
      }
      try holder.writeLine("end")
      #expect(holder.waitForExit().status == 0)
      try environment.write { _ in }
    }
  }

  @Test func aKilledHolderFreesTheLock() throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      let holder = try child("lmdb-hold-writer", environment.folder)
      #expect(holder.readLine()?.hasPrefix("writing") == true)
      holder.kill()
      try environment.write { try $0.put(tree, key: [1], value: [1]) }
    }
  }

  @Test(.timeLimit(.minutes(10))) func writersOfTwoProcessesTakeTurns() throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      #expect(!environment.anotherProcessWaits)
      let other = try child("lmdb-write-on", environment.folder)
      #expect(other.readLine() == "ready")
      var commits: [Int] = []
      for _ in 0..<20 {
        try environment.write { transaction in
          // The other writes without a pause, so that it comes to wait; if not, the test hangs
          // until its time limit, and fails.
          while !environment.anotherProcessWaits { usleep(100) }
          try transaction.put(tree, key: [1], value: [1])
          commits.append(transaction.id)
        }
      }
      try other.closeInput()
      #expect(other.waitForExit().status == 0)
      // Between any two of ours there is one of theirs.
      for (first, second) in zip(commits, commits.dropFirst()) { #expect(second >= first + 2) }
    }
  }

  @Test func aTreeThatAnotherProcessCreatedIsFoundInTheNextSnapshot() throws {
    try withStore { environment in
      _ = try environment.makeTree()
      let older = try environment.beginRead()
      defer { environment.endRead(older) }
      for name in ["foreign", "further"] {
        let maker = try child("lmdb-create-tree", environment.folder, name)
        #expect(maker.readLine() == "created")
        maker.waitForExit()
        if name == "further" { try environment.write { _ in } }
        try environment.read { transaction in
          let tree = try #require(try environment.tree(named: name, in: transaction))
          try #expect(transaction.get(tree, [1]).map(Array.init) == [1])
          try #expect(older.get(tree, [1]) == nil)
        }
      }
    }
  }

  @Test func aFullDiskIsAnErrorAndTheStoreStaysUsable() throws {
    try withStore { environment in
      let filler = try child("lmdb-fill", environment.folder, String(2 << 20))
      #expect(filler.readLine() == "diskFull")
      #expect(filler.readLine()?.contains(environment.folder) == true)
      #expect(filler.readLine() == "usable")
      #expect(filler.waitForExit() == .init(status: 0, wasSignal: false))
    }
  }

  @Test func aFaultInTheMapEndsATool() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("store")
      do {
        let environment = try Environment.open(at: path, options: .init(createIfMissing: true))
        let tree = try environment.makeTree()
        try environment.write { transaction in
          for key in 0..<100 as Range<UInt8> {
            try transaction.put(tree, key: [key], value: [UInt8](repeating: 1, count: 9_000))
          }
        }
      }
      let cutter = try child("lmdb-cut", path)
      #expect(cutter.readErrors().contains("the store is damaged (a page of data.mdb"))
      #expect(cutter.waitForExit() == .init(status: 65, wasSignal: false))
    }
  }
}

import Glibc
import LMDB
import TestSupport
import Testing

@testable import EntityStore

/// Observers and writers in several processes. Where the ticker stands still, what wakes is a
/// doorbell.
@Suite(.timeLimit(.minutes(10))) struct ObservingProcessTests {
  private static let executable = childExecutable(named: "store-child")

  @Test func aCommitOfAnotherProcessWakesWhoWaits() async throws {
    try await withObservedStore { store, _ in
      let writer = try Writer(store)
      let observation = try store.commits.observe()
      for _ in 0..<20 { try await expectBell(of: writer, in: store, observation) }
    }
  }

  @Test func theFolderOfAStoreMayHaveALongPath() async throws {
    let path = (0..<3).map { "\($0)" + String(repeating: "d", count: 90) }.joined(separator: "/")
    try await withObservedStore(in: path) { store, _ in
      #expect(store.folder.utf8.count > 200)
      let writer = try Writer(store)
      let observation = try store.commits.observe()
      try await expectBell(of: writer, in: store, observation)
    }
  }

  @Test func aSocketThatIsRemovedIsReplacedAtTheNextLook() async throws {
    try await withObservedStore { store, ticker in
      let writer = try Writer(store)
      let observation = try store.commits.observe()
      let seen = try store.newestCommit()
      try removeOwnSocket(of: store)
      async let next = observation.next(after: seen)
      try await store.waiters(1)
      try writer.commit()
      #expect(store.commits.signal.waitersCount == 1)
      ticker.tick()
      #expect(try await next == seen + 1)
      try await expectBell(of: writer, in: store, observation)
    }
  }

  @Test func aSocketThatIsRemovedMakesNewsLateAndNotLost() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let writer = try Writer(store)
      let observation = try store.commits.observe()
      let seen = try store.newestCommit()
      try removeOwnSocket(of: store)
      async let next = observation.next(after: seen)
      try writer.commit()
      #expect(try await next == seen + 1)
    }
  }

  @Test func whereNoSocketCanBeBoundTheLookIsEnough() async throws {
    try await withObservedStore { store, ticker in
      let descriptor = open(store.folder + "/observers", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
      close(descriptor)
      let observation = try store.commits.observe()
      let writer = try Writer(store)
      let seen = try store.newestCommit()
      async let next = observation.next(after: seen)
      try await store.waiters(1)
      try writer.commit()
      ticker.tick()
      #expect(try await next == seen + 1)
      // Commits of this process need no socket.
      async let own = observation.next(after: seen + 1)
      try await store.waiters(1)
      try await store.commitOnce()
      #expect(try await own == seen + 2)
      unlink(store.folder + "/observers")
    }
  }

  @Test func anObserverThatMayNotWriteToTheFolderHearsAllTheSame() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      chmod(store.folder, 0o555)
      defer { chmod(store.folder, 0o700) }
      let follower = try ChildProcess(
        Self.executable, ["observation-follow", store.folder, "unprivileged"])
      defer { follower.kill() }
      #expect(follower.readLine() == "observing")
      // The first may come before the follower waits for it; the second wakes it.
      for _ in 0..<2 {
        #expect(store.observerSockets() == nil)
        try await store.commitOnce()
        #expect(follower.readLine() == "heard \(try store.newestCommit())")
      }
    }
  }

  @Test func theNextWriterRemovesTheSocketOfADeadObserver() async throws {
    try await withObservedStore { store, _ in
      let followers = try (0..<3).map { _ in
        let follower = try ChildProcess(Self.executable, ["observation-follow", store.folder])
        #expect(follower.readLine() == "observing")
        return follower
      }
      #expect(store.observerSockets()?.count == 3)
      for follower in followers.dropLast() { follower.kill() }
      #expect(store.observerSockets()?.count == 3)
      try await store.commitOnce()
      #expect(store.observerSockets()?.count == 1)
      #expect(followers[2].readLine() == "heard \(try store.newestCommit())")
      followers[2].kill()
      try await store.commitOnce()
      #expect(store.observerSockets() == nil)
    }
  }

  @Test func anObserverThatNeverReadsCostsNothing() async throws {
    let times = isThorough ? 100_000 : 10_000
    try await withObservedStore { store, _ in
      let follower = try ChildProcess(Self.executable, ["observation-follow", store.folder])
      defer { follower.kill() }
      #expect(follower.readLine() == "observing")
      follower.signal(SIGSTOP)
      let writer = try Writer(store)
      let before = try writer.commit(times: 2_000)
      let after = try writer.commit(times: times)
      #expect(isSanitized || after - before < 512, "KiB before \(before), after \(after)")
      #expect(store.observerSockets()?.count == 2)
      follower.signal(SIGCONT)
      let newest = try store.newestCommit()
      var heard = follower.readLine()
      while let line = heard, line != "heard \(newest)" { heard = follower.readLine() }
      #expect(heard == "heard \(newest)")
    }
  }

  @Test func ringsThatNobodyHearsGrowNothing() async throws {
    try await withObservedStore { store, _ in
      let deaf = ObserversFolder(ofStore: store.folder)
      let descriptor = try #require(deaf.bindSocket(named: "deaf"))
      for _ in 0..<100_000 { store.commits.signal.notify() }
      var waiting = 0
      var byte: UInt8 = 0
      while recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) == 1 { waiting += 1 }
      #expect((1...1_000).contains(waiting))
      close(descriptor)
      deaf.removeSocket(named: "deaf")
    }
  }

  @Test func observationsThatBeginAndEndLeaveNoDescriptor() async throws {
    try await withObservedStore { store, _ in
      let child = try ChildProcess(
        Self.executable, ["observation-churn", store.folder, "1000"])
      let words = try #require(child.readLine()).split(separator: " ")
      #expect(words.count == 3 && words.first == "descriptors" && words[1] == words[2], "\(words)")
      #expect(child.waitForExit().status == 0)
      #expect(store.observerSockets() == nil)
    }
  }

  @Test func aWriterSendsNothingToWhatIsNoSocketInTheFolder() async throws {
    try await withObservedStore { store, _ in
      let elsewhere = ObserversFolder(ofStore: store.folder)
      let descriptor = try #require(elsewhere.bindSocket(named: "target"))
      rename(store.folder + "/observers/target", store.folder + "/target")
      symlink("../target", store.folder + "/observers/link")
      try await store.commitOnce()
      var byte: UInt8 = 0
      #expect(recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) < 0)
      #expect(store.observerSockets() == ["link"])
      close(descriptor)
    }
  }

  // MARK: Helpers

  /// Another process that commits when it is told to.
  private struct Writer {
    let child: ChildProcess

    init(_ store: Store) throws {
      child = try ChildProcess(executable, ["observation-commit", store.folder])
      #expect(child.readLine() == "ready")
    }

    /// - Returns: KiB of memory of the process's own.
    @discardableResult
    func commit(times: Int = 1) throws -> Int {
      try child.writeLine("\(times)")
      let words = try #require(child.readLine()).split(separator: " ")
      try #require(words.count == 3 && words[0] == "committed" && words[1] == "\(times)")
      return try #require(Int(words[2]))
    }
  }

  private func expectBell(
    of writer: Writer, in store: Store, _ observation: CommitObservation
  ) async throws {
    let seen = try store.newestCommit()
    async let next = observation.next(after: seen)
    try await store.waiters(1)
    try writer.commit()
    #expect(try await next == seen + 1)
  }

  /// Removes the one socket that this process has; a child's own stay.
  private func removeOwnSocket(of store: Store) throws {
    let own = try #require(store.observerSockets()).filter { $0.hasPrefix("\(getpid())-") }
    #expect(own.count == 1)
    for name in own { unlink("\(store.folder)/observers/\(name)") }
  }
}

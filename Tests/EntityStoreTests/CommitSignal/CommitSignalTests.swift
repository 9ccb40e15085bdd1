import EntityModel
import Glibc
import LMDB
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Commit signals within one process. The poll timers never fire: only wake sockets wake.
@Suite(.timeLimit(.minutes(10))) struct CommitSignalTests {
  // MARK: Waking

  @Test func aCommitOfThisProcessWakesTheWaiters() async throws {
    try await withObservedStore { store, _ in
      let observation = try store.commits.observe()
      for _ in 0..<20 {
        let seen = try store.newestCommit()
        async let next = observation.next(after: seen)
        try await store.waiters(1)
        try await store.commitOnce()
        #expect(try await next == seen + 1)
      }
    }
  }

  @Test func aLinkInThePlaceOfTheFolderOfSocketsIsNotFollowed() throws {
    try withTemporaryFolder { folder in
      let (store, other) = (folder.path("store"), folder.path("other"))
      for path in [store, other] { #expect(mkdir(path, 0o700) == 0) }
      #expect(symlink(other, store + "/observers") == 0)
      let observers = ObserversFolder(ofStore: store)
      #expect(observers.bindSocket(named: "a") == nil)
      observers.notify(exceptFor: nil)
      unlink(store + "/observers")
      let socket = try #require(observers.bindSocket(named: "a"))
      #expect(observers.holdsSocket(named: "a"))
      var status = stat()
      #expect(lstat(other + "/a", &status) != 0 && lstat(store + "/observers/a", &status) == 0)
      observers.removeSocket(named: "a")
      #expect(lstat(store + "/observers", &status) != 0)
      close(socket)
    }
  }

  @Test func anObserverOfAnOlderCommitDoesNotWait() async throws {
    try await withObservedStore { store, _ in
      let observation = try store.commits.observe()
      let seen = try store.newestCommit()
      for _ in 0..<3 { try await store.commitOnce() }
      #expect(try await observation.next(after: seen) == seen + 3)
      #expect(try await observation.next(after: 0) == seen + 3)
      #expect(try await observation.next(after: seen + 2) == seen + 3)
    }
  }

  @Test func everyCommitIsNoticedDuringManyCommits() async throws {
    try await withObservedStore { store, _ in
      let observation = try store.commits.observe()
      let last = try store.newestCommit() + 300
      let follower = Task {
        var seen = 0
        while seen < last {
          let commit = try await observation.next(after: seen)
          #expect(commit > seen)
          // What has been announced, a snapshot sees.
          let visible = try store.newestCommit()
          #expect(visible >= commit)
          seen = visible
        }
        return seen
      }
      for _ in 0..<300 { try await store.commitOnce() }
      #expect(try await follower.value == last)
    }
  }

  @Test func twoHundredWaitersWakeAtOnce() async throws {
    try await withObservedStore { store, ticker in
      let seen = try store.newestCommit()
      let shared = try store.commits.observe()
      let woken = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<200 {
          group.addTask {
            let own = number % 2 == 0 ? try store.commits.observe() : shared
            return try await own.next(after: seen)
          }
        }
        try await store.waiters(200)
        #expect(ticker.running == 1 && store.observerSockets()?.count == 1)
        try await store.commitOnce()
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(woken == Array(repeating: seen + 1, count: 200))
      #expect(store.commits.signal.waitersCount == 0)
    }
  }

  @Test func aChangeOfTheSchemaWakes() async throws {
    try await withObservedStore { store, _ in
      let observation = try store.commits.observe()
      let seen = try store.newestCommit()
      async let next = observation.next(after: seen)
      try await store.waiters(1)
      let knowing = try openStore(
        at: store.folder, migrations: [.grownModel], migrate: .never)
      try knowing.migrate()
      #expect(try await next > seen)
    }
  }

  @Test func twoStoresOnOneFolderNoticeEachOther() async throws {
    try await withObservedStore { first, _ in
      let second = try openStore(at: first.folder, migrate: .never)
      for (writer, reader) in [(first, second), (second, first)] {
        let observation = try reader.commits.observe()
        let seen = try reader.newestCommit()
        async let next = observation.next(after: seen)
        try await reader.waiters(1)
        try await writer.commitOnce()
        #expect(try await next == seen + 1)
      }
    }
  }

  @Test func aWriteThatFailsWakesNobody() async throws {
    struct Failure: Error {}
    try await withObservedStore { store, _ in
      let observation = try store.commits.observe()
      let seen = try store.newestCommit()
      async let next = observation.next(after: seen)
      try await store.waiters(1)
      await #expect(throws: Failure.self) {
        try await store.write { transaction in
          _ = try transaction.insert("Wide", ["a": "x"])
          throw Failure()
        }
      }
      try await store.write { _ in }
      #expect(store.commits.signal.waitersCount == 1)
      try await store.commitOnce()
      #expect(try await next == seen + 1)
    }
  }

  // MARK: Cancellation

  @Test func cancellationEndsTheWait() async throws {
    try await withObservedStore { store, _ in
      let observation = try store.commits.observe()
      let seen = try store.newestCommit()
      let waiting = (0..<10).map { _ in Task { try await observation.next(after: seen) } }
      try await store.waiters(10)
      waiting[3].cancel()
      await #expect(throws: CancellationError.self) { try await waiting[3].value }
      #expect(store.commits.signal.waitersCount == 9)
      try await store.commitOnce()
      for (number, task) in waiting.enumerated() where number != 3 {
        #expect(try await task.value == seen + 1)
      }
      let late = Task {
        while !Task.isCancelled { await Task.yield() }
        return try await observation.next(after: seen + 1)
      }
      late.cancel()
      await #expect(throws: CancellationError.self) { try await late.value }
      #expect(store.commits.signal.waitersCount == 0)
    }
  }

  @Test func aWaitEndsOnceHoweverCancellationAndCommitMeet() async throws {
    try await withObservedStore { store, _ in
      var random = SeededRandom(seed: testSeed(41))
      let observation = try store.commits.observe()
      var outcomes: Set<String> = []
      for _ in 0..<300 {
        let seen = try store.newestCommit()
        let waiting = (0..<4).map { _ in Task { try await observation.next(after: seen) } }
        let canceled = waiting.filter { _ in random.oneIn(2) }
        async let committed: Void = store.commitOnce()
        for _ in 0..<random.number(0...200) { await Task.yield() }
        for task in canceled { task.cancel() }
        try await committed
        for task in waiting {
          switch await task.result {
          case .success(let commit): outcomes.insert(commit == seen + 1 ? "woken" : "wrong")
          case .failure(let error):
            outcomes.insert(error is CancellationError ? "left" : "\(error)")
          }
        }
        try #require(store.commits.signal.waitersCount == 0)
      }
      #expect(outcomes.isSubset(of: ["woken", "left"]), "seed \(random.seed)")
    }
  }

  // MARK: What it costs

  @Test func nothingRunsWhileNobodyObserves() async throws {
    try await withObservedStore { store, ticker in
      try await store.commitOnce()
      #expect(ticker.started == 0 && store.observerSockets() == nil)
      var first: CommitObservation? = try store.commits.observe()
      let second = try store.commits.observe()
      #expect(ticker.started == 1 && store.observerSockets()?.count == 1)
      withExtendedLifetime(first) {}
      first = nil
      #expect(ticker.running == 1)
      // Between two waits, and while it is never asked, an observation keeps its socket.
      for _ in 0..<100 { ticker.tick() }
      #expect(ticker.started == 1 && store.observerSockets()?.count == 1)
      withExtendedLifetime(second) {}
    }
  }

  @Test func theLastObserverReleasesEverything() async throws {
    try await withObservedStore { store, ticker in
      for round in 1...3 {
        do {
          let observations = try (0..<5).map { _ in try store.commits.observe() }
          #expect(ticker.running == 1)
          withExtendedLifetime(observations) {}
        }
        #expect(ticker.started == round && ticker.running == 0)
        #expect(store.observerSockets() == nil)
      }
    }
  }

  @Test func aPollWithoutACommitWakesNobody() async throws {
    try await withObservedStore { store, ticker in
      let observation = try store.commits.observe()
      let seen = try store.newestCommit()
      let waiting = Task { try await observation.next(after: seen) }
      try await store.waiters(1)
      for _ in 0..<100 { ticker.tick() }
      #expect(store.commits.signal.waitersCount == 1)
      waiting.cancel()
      _ = await waiting.result
    }
  }
}

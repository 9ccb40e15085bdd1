import DurableJobs
import EntityModel
import EntityStore
import Foundation
import Logging
import LoopbackHTTP
import Migrations
import TestSupport
import Testing

@testable import WorkerService

/// The proof of the watchdog's pings.
@Suite(.timeLimit(.minutes(5))) struct WorkerHealthTests {
  private let health = WorkerHealth(nil, Logger(label: "health") { _ in SwiftLogNoOpLogHandler() })

  @Test func aWriterThatHangsDoesNotAnswer() async throws {
    try await withTemporaryFolder { folder in
      let store = try openWorkerStore(folder.path("store"))
      let (begun, mayContinue) = (try Signal(), try Signal())
      async let hanging: Void = store.write { _ in
        begun.fire()
        try mayContinue.wait()
      }
      try await Task.detached { try begun.wait() }.value
      health.opened(store)
      let answers = Journal()
      let probe = Task { [health] in answers.add("\(await health.writerAnswers())") }
      // Reads do not wait for the writer, so that these come to their end before it.
      for _ in 0..<100 { _ = try store.read { $0.storeID } }
      #expect(answers.lines.isEmpty)
      mayContinue.fire()
      await probe.value
      #expect(answers.lines == ["true"])
      try await hanging
    }
  }

  @Test func aWriterWithoutDiskSpaceAnswers() async throws {
    try await withTemporaryFolder { folder in
      guard let device = try folder.mountDevice(size: "1m") else { return }
      defer { unmountDevice(device) }
      let store = try openWorkerStore(device + "/store")
      health.opened(store)
      #expect(await health.writerAnswers())
      let text = Value.string(String(repeating: "x", count: 200_000))
      let error = await #expect(throws: StoreError.self) {
        try await store.write { transaction in
          for number in 0..<10 {
            try transaction.insert("Episode", ["id": .string("e\(number)"), "summary": text])
          }
        }
      }
      #expect(error?.passes == true)
      #expect(await health.writerAnswers())
    }
  }

  @Test func aLongWriteOfAnotherProcessIsHealthy() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      var options = Store.Options()
      options.writerDeadline = .milliseconds(50)
      let store = try Store.open(at: path, migrations: [.jobs], migrate: .ifEmpty, options: options)
      let other = try ChildProcess(
        childExecutable(named: "store-child"), ["lmdb-hold-writer", path])
      defer { other.kill() }
      try #require(other.readLine() != nil)
      health.opened(store)
      #expect(await health.writerAnswers())
    }
  }

  @Test func theWorkerIsHealthyWhileTheStoreIsReopened() async throws {
    try await withTemporaryFolder { folder in
      #expect(await health.writerAnswers())
      let store = try openWorkerStore(folder.path("store"))
      health.opened(store)
      store.close()
      #expect(await health.writerAnswers())
      health.closing()
      #expect(await health.writerAnswers())
    }
  }
}

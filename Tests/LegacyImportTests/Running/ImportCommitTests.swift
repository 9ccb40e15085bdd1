import Dispatch
import Migrations
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore
@testable import LegacyImport

/// The rows that an import commits together.
@Suite struct ImportCommitTests {
  private struct Unreadable: Error {}

  @Test func aValueIsReadyOnlyOnceItHasBeenComputed() throws {
    let (begins, computes) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    var number = 0
    let ahead = ReadAhead {
      begins.signal()
      computes.wait()
      number += 1
      if number == 3 { throw Unreadable() }
      return number
    }
    begins.wait()
    #expect(ahead.nextIfReady() == nil)
    computes.signal()
    #expect(try ahead.next() == 1)
    // The third value has begun once the second was taken.
    computes.signal()
    var second: Int?
    while second == nil { second = ahead.nextIfReady() }
    #expect(second == 2)
    computes.signal()
    #expect(throws: Unreadable.self) { try ahead.next() }
    // An error is thrown between two transactions only.
    #expect(ahead.nextIfReady() == nil)
    #expect(throws: Unreadable.self) { try ahead.next() }
  }

  @Test func linksThatAreReadTogetherShareACommit() async throws {
    try await withLibrary(books: 5_000) { library in
      let store = try openStore(
        at: library.store.folder, migrations: [.legacyImport, Library.migration], migrate: .never,
        commitDuration: .seconds(600))
      let progress = Locked<[String: [Int64]]>([:])
      var options = LegacyFile.Options()
      options.progress = { step in
        guard step.stage == .links else { return }
        progress.withLock { $0[step.name, default: []].append(step.done) }
      }
      let report = try LegacyFile(library.file.path, options).run(
        try MappingText(Array(Library.mapping.utf8), file: "map.yaml"), in: store)
      #expect(report.isBalanced)
      let links = progress.withLock { $0 }
      #expect(links.count == 3)
      #expect(links.values.allSatisfy { $0.count == 1 }, "\(links)")
    }
  }
}

import Foundation
import TestSupport
import Testing

@testable import LMDB

/// The pages of several lookups, requested together.
@Suite struct PagePrefetchTests {
  private let pageSize = Int(getpagesize())

  @Test func groupsAreCheckedUntilTheirPagesAreInMemory() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("pages")
      let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
      try #require(descriptor >= 0)
      defer { close(descriptor) }
      // Pages of a hole are in no cache.
      try #require(ftruncate(descriptor, off_t(16 * pageSize)) == 0)
      let map = try #require(mmap(nil, 16 * pageSize, PROT_READ, MAP_SHARED, descriptor, 0))
      try #require(map != MAP_FAILED)
      defer { munmap(map, 16 * pageSize) }
      let pages = (0..<16).map { UnsafeRawPointer(map) + $0 * pageSize }
      let prefetch = PagePrefetch()
      #expect(dueGroups(of: 2_048, prefetch) == [0, 1, 2, 3, 4, 5, 6, 7, 1_024])
      prefetch.request(pages, pageSize: pageSize)
      #expect(dueGroups(of: 20, prefetch) == Array(0..<8), "a page was requested")
      // SAFETY: the pages lie in the map.
      for page in pages { #expect(page.load(as: UInt8.self) == 0) }
      prefetch.request(pages, pageSize: pageSize)
      #expect(dueGroups(of: 20, prefetch).isEmpty, "all pages were in memory")
    }
  }

  @Test func recordsOfAStoreThatIsNotInMemoryAreRead() throws {
    try withTemporaryFolder { folder in
      let rows = (0..<5_000 as Range<UInt64>).map { number in
        [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 200)
      }
      let path = folder.path("store")
      func open() throws -> Environment {
        try Environment.open(at: path, options: .init(mapSize: 1 << 30, createIfMissing: true))
      }
      do {
        let environment = try open()
        let tree = try TreePagesTests.makeTree(in: environment)
        try environment.write { transaction in
          for (number, value) in rows.enumerated() {
            try TreePagesTests.put(value, UInt64(number), tree, in: transaction)
          }
        }
      }
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path + "/data.mdb"))
      posix_fadvise(file.fileDescriptor, 0, 0, POSIX_FADV_DONTNEED)
      try file.close()
      let environment = try open()
      let tree = try TreePagesTests.makeTree(in: environment)
      try environment.read { transaction in
        for group in 0..<20 as Range<UInt64> {
          let numbers = (0..<20).map { ($0 * 257 + group * 31) % 5_000 }
          let values = try transaction.get(tree, numbers: numbers).map { $0.map(Array.init) }
          #expect(values == numbers.map { rows[Int($0)] })
        }
      }
      let report = try PageFile.verify(folder: environment.folder, snapshotOf: environment)
      #expect(report.problems.isEmpty)
    }
  }

  /// Returns the numbers of the groups that are checked.
  private func dueGroups(of count: Int, _ prefetch: PagePrefetch) -> [Int] {
    (0..<count).filter { _ in prefetch.isDue() }
  }
}

import Glibc
import Synchronization

/// Requests the pages that several lookups need from the disk, all at once, while the store is not
/// in memory.
///
/// A fault reads one page and waits for it. The records of a list lie in different places, so that
/// a list of 20 would wait for the disk up to 40 times. A check whether a page is in memory is a
/// system call; therefore only the first groups of lookups are checked, and every 1,024th after
/// them.
final class PagePrefetch: Sendable {
  private static let groupsChecked = 8
  private static let interval = 1_024

  /// The number of groups since the last one that needed a page from the disk.
  private let groups = Atomic<Int>(0)

  /// Returns true if the pages of the next group should be requested.
  func isDue() -> Bool {
    let number = groups.wrappingAdd(1, ordering: .relaxed).oldValue
    return number < Self.groupsChecked || number % Self.interval == 0
  }

  /// Requests the pages that are not in memory, without waiting for them.
  ///
  /// - Parameter pages: The addresses of pages of the map.
  func request(_ pages: some Sequence<UnsafeRawPointer>, pageSize: Int) {
    for page in pages {
      let page = UnsafeMutableRawPointer(mutating: page)
      var isInMemory: UInt8 = 0
      // SAFETY: the page lies in the map; neither call changes its content. `mincore` writes one
      // byte for one page, and fails for a page that is smaller than those of the system.
      guard mincore(page, pageSize, &isInMemory) == 0, isInMemory & 1 == 0 else { continue }
      madvise(page, pageSize, MADV_WILLNEED)
      groups.store(0, ordering: .relaxed)
    }
  }
}

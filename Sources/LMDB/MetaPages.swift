import SystemSupport

/// The check that the two meta pages are those of the last two commits.
///
/// A meta page has no checksum. With another number of its commit, it would make an earlier commit
/// the newest one, which is undamaged. But commits alternate between the two pages, and each commit
/// frees the root of the main tree that it replaces, so the last entry of its free list bears its
/// number. A new environment has 0 in both pages, and a compacted copy begins with 0 and 1.
enum MetaPages {
  /// Checks both meta pages.
  ///
  /// - Returns: what is wrong; nil if nothing is, or if a page is unreadable.
  static func flaw(of source: PageSource) throws(StorageError) -> String? {
    var last: [UInt64]?
    while true {
      let pages = try source.readMetaPages().compactMap(\.page)
      guard pages.count == 2 else { return nil }
      let numbers = pages.map(\.transaction)
      // A writer may have written one of the pages between the two reads, and twice during the
      // check. Only two checks of the same commits prove damage.
      guard let flaw = try flaw(of: pages, source) else { return nil }
      if numbers == last { return flaw }
      last = numbers
    }
  }

  private static func flaw(
    of pages: [MetaPage], _ source: PageSource
  ) throws(StorageError) -> String? {
    let (first, second) = (pages[0].transaction, pages[1].transaction)
    if first == 0, second == 0 { return nil }
    guard first & 1 == 0, second & 1 == 1, max(first, second) - min(first, second) == 1 else {
      return "the meta pages are not those of consecutive commits: \(first) and \(second)"
    }
    for page in pages where page.transaction > 1 {
      var walk = try PageWalk(source: source, meta: page, findings: PageFindings(limit: 0))
      _ = try walk.walkTree(.freeList, page.freeList)
      // What is wrong with the list itself is reported by the walk over the whole file.
      guard walk.findings.total == 0, let last = walk.lastFreeing else { continue }
      if last != page.transaction {
        return "the meta page of commit \(page.transaction) is that of commit \(last)"
      }
    }
    return nil
  }
}

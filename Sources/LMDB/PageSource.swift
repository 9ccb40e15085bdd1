import Glibc
import SystemSupport

/// A data file that is read by `pread`. If the file is cut, a read is short, where access to a map
/// raises a signal.
struct PageSource {
  let descriptor: Int32
  let path: String

  /// Opens a file for reading; the caller closes its descriptor.
  static func open(
    _ path: String, orThrow summary: StaticString
  ) throws(StorageError) -> PageSource {
    // Not blocked by a pipe in the place of the file.
    let descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno, summary, context: [("path", path)]) }
    return PageSource(descriptor: descriptor, path: path)
  }

  /// Opens the data file of a store's folder; the caller closes its descriptor.
  ///
  /// - Throws: the errors of `FolderFile.open`, with `.permission` for a file that must not be
  ///   used.
  static func open(
    inFolder path: String, _ opening: FolderFile.Opening
  ) throws(StorageError) -> PageSource {
    do {
      return PageSource(descriptor: try FolderFile.open(path, opening), path: path)
    } catch {
      throw .system(error, "the data file of the store cannot be used", context: [("path", path)])
    }
  }

  func byteCount() throws(StorageError) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw .system(errno, "the data file cannot be read", context: [("path", path)])
    }
    return Int(status.st_size)
  }

  /// True if a crash has left the file in the middle of its creation, so that no commit was ever
  /// acknowledged: it has no bytes, or only zeros, but for one of the two meta pages as LMDB
  /// creates it, or for both if the second one is cut. Both are flushed before the first commit
  /// writes anything else.
  func isUncommitted() throws(StorageError) -> Bool {
    let metas = try readMetaPages()
    if let first = metas[0].page, metas[1].page != nil, try byteCount() >= 2 * first.pageSize {
      return false
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 8)
    defer { buffer.deallocate() }
    var offset = 0
    while true {
      let count = try read(into: buffer, at: offset)
      if count == 0 { return true }
      if offset == 0 {
        for (number, meta) in metas.enumerated() {
          guard let page = meta.page else { continue }
          guard page.isFirst else { return false }
          let start = number * page.pageSize
          for place in start..<min(start + PageFormat.metaCount, count) { buffer[place] = 0 }
        }
      }
      guard buffer[..<count].allSatisfy({ $0 == 0 }) else { return false }
      offset += count
    }
  }

  /// Fills `buffer` with the bytes from `offset`.
  ///
  /// - Returns: the number of bytes read; fewer than asked for only at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StorageError) -> Int
  {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = pread(descriptor, rest.baseAddress, rest.count, offset + done)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw .system(
          errno, "the data file cannot be read", context: [("path", path), ("at", "\(offset)")])
      }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Compares the meta pages with each other and with the size of the file, and checks the tree of
  /// trees: the parts that LMDB uses when it opens the file.
  func checkBeforeMapping() throws(StorageError) {
    var cause: String?
    var last: UInt64?
    while true {
      let newest = try readNewestMeta()
      // If a writer commits twice during the check, it uses the pages of the checked commit again,
      // and a sound file looks damaged. Only two checks of the same commit prove damage.
      if let cause, newest.transaction == last { throw damaged(cause) }
      cause = try damage(under: newest)
      if cause == nil { return }
      last = newest.transaction
    }
  }

  private func readNewestMeta() throws(StorageError) -> MetaPage {
    let metas = try readMetaPages()
    if metas.allSatisfy({ $0.flaw == .noMagic }) { throw notAStore }
    guard let first = metas[0].page, let second = metas[1].page else {
      throw damaged("a meta page is overwritten or missing")
    }
    guard first.pageSize == second.pageSize else {
      throw damaged("the meta pages name two page sizes")
    }
    return first.transaction >= second.transaction ? first : second
  }

  private func damage(under meta: MetaPage) throws(StorageError) -> String? {
    let size = try byteCount()
    // LMDB does not write a page that was allocated and freed within one transaction, so the end of
    // the file may be missing if those pages are free.
    if size < (Int(meta.lastPage) + 1) * meta.pageSize,
      try !PageWalk.endIsFree(of: self, meta: meta, pagesInFile: size / meta.pageSize)
    {
      return "the file is cut short"
    }
    var walk = try PageWalk(source: self, meta: meta, findings: PageFindings(limit: 1))
    _ = try walk.walkTree(.main, meta.main)
    return walk.findings.problems.first.map(String.init(describing:))
  }

  struct FoundMeta {
    var page: MetaPage?
    var flaw: MetaPage.Flaw?
  }

  /// Returns both meta pages. The second one is searched for at the page size that the first gives,
  /// or else at any page size.
  func readMetaPages() throws(StorageError) -> [FoundMeta] {
    let first = try readMeta(at: 0)
    if let page = first.page { return [first, try readMeta(at: page.pageSize)] }
    for size in PageFormat.pageSizes {
      let second = try readMeta(at: size)
      if let page = second.page, page.pageSize == size { return [first, second] }
    }
    return [first, FoundMeta(page: nil, flaw: .noMagic)]
  }

  private func readMeta(at offset: Int) throws(StorageError) -> FoundMeta {
    let bytes = UnsafeMutableRawBufferPointer.allocate(
      byteCount: PageFormat.metaCount, alignment: 8)
    defer { bytes.deallocate() }
    guard try read(into: bytes, at: offset) == bytes.count else {
      return FoundMeta(page: nil, flaw: .noMagic)
    }
    do throws(MetaPage.Flaw) {
      return FoundMeta(page: try MetaPage(UnsafeRawBufferPointer(bytes)))
    } catch {
      return FoundMeta(page: nil, flaw: error)
    }
  }

  func damaged(_ cause: String) -> StorageError {
    StorageError(
      .damaged, "the store is damaged", context: [("path", path), ("cause", cause)],
      advice: "run `mooring check`, then restore a backup")
  }

  private var notAStore: StorageError {
    StorageError(
      .notAStore, "the file is not a store", context: [("path", path)],
      advice: "check the path")
  }
}

import CMooringLMDB
import Glibc
import SystemSupport

/// A data file that is read page by page, with every number in it checked against its bounds.
///
/// LMDB trusts its file, so that damage in it ends in a signal. This reader maps nothing, trusts no
/// number, visits a page once, and holds one page per level and two bits per page in memory. So it
/// returns a report for any content, however damaged.
public enum PageFile {
  /// A damaged page, and what is wrong with it.
  public struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// The page; nil if the problem is not in a single page.
    public let page: Int?
    /// The tree's name; nil for the file as a whole.
    public let tree: String?
    public let text: String

    public var description: String {
      let place = [tree.map { "tree \($0)" }, page.map { "page \($0)" }].compactMap { $0 }
      return place.isEmpty ? text : "\(place.joined(separator: ", ")): \(text)"
    }
  }

  /// The pages and entries that were counted in one tree.
  public struct TreePages: Sendable, Hashable {
    public let name: String
    public internal(set) var depth = 0
    public internal(set) var branchPages = 0
    public internal(set) var leafPages = 0
    public internal(set) var overflowPages = 0
    public internal(set) var entries = 0
  }

  /// The result of reading all pages.
  public struct Report: Sendable {
    /// The commit that was checked; nil if the file has no valid meta page.
    public internal(set) var transactionID: Int?
    /// The size of a page in bytes.
    public internal(set) var pageSize = 0
    /// The number of pages up to the last one that was ever used.
    public internal(set) var pagesTotal = 0
    public internal(set) var pagesFree = 0
    /// The number of pages that are neither free nor in a tree. They are lost room, and no damage.
    /// Counted only when every tree was checked and there is no problem.
    public internal(set) var pagesLost = 0
    /// The free list, the main tree and the named trees, under "(free list)", "(main)" and their
    /// names.
    public internal(set) var trees: [TreePages] = []
    /// The first problems, up to the limit of the call.
    public internal(set) var problems: [Problem] = []
    /// The number of all problems.
    public internal(set) var problemsTotal = 0
    /// True if other processes have committed so often during the check that reported damage may be
    /// their writes.
    public internal(set) var wasOvertaken = false
  }

  /// Checks the structure of a store: meta pages, free list, main tree and named trees.
  ///
  /// Without `snapshotOf` nothing is mapped, so that the check can run on a file that is not
  /// trusted. But a process that commits twice during the check may use pages of the checked commit
  /// again, which then appear as damage; the report shows this (`wasOvertaken`). With `snapshotOf`
  /// a read transaction of that environment pins the pages of its snapshot until the check ends.
  ///
  /// Keys are compared in their tree's order, by bytes or as 8-byte integers. Trees with duplicate
  /// values or another order, which Mooring never creates, are reported as problems.
  ///
  /// - Parameter names: the named trees to check, besides the free list and the main tree; nil for
  ///   all.
  /// - Parameter limit: the number of problems to describe.
  /// - Throws: `StorageError` if the file cannot be read: `.storeMissing`, `.permission`,
  ///   `.inputOutput`. Damage is in the report.
  /// - Complexity: O(pages used), each read once.
  public static func verify(
    folder: String, snapshotOf environment: Environment? = nil, only names: Set<String>? = nil,
    limit: Int = 20
  ) throws -> Report {
    let source = try PageSource.open(inFolder: StoreFiles.dataFile(folder), .readOnly)
    defer { close(source.descriptor) }
    guard let environment else { return try verifyNewest(source, names, limit: limit) }
    let snapshot = try environment.beginRead()
    defer { environment.endRead(snapshot) }
    return try verify(source, names, snapshot: snapshot, of: environment, limit: limit)
  }

  /// Checks the commit of a snapshot. Its meta page stays in the file until the second commit after
  /// it. If that has been written already, a newer snapshot is taken.
  private static func verify(
    _ source: PageSource, _ names: Set<String>?, snapshot: TreeReader,
    of environment: Environment, limit: Int
  ) throws -> Report {
    let metas = try source.readMetaPages().compactMap(\.page)
    // A damaged number may have any value.
    let walked = UInt64(truncatingIfNeeded: snapshot.id)
    if let meta = metas.first(where: { $0.transaction == walked }) {
      return try walk(source, names, from: meta, PageFindings(limit: limit))
    }
    let newer = try environment.beginRead()
    defer { environment.endRead(newer) }
    guard newer.id != snapshot.id else { return try verifyNewest(source, names, limit: limit) }
    return try verify(source, names, snapshot: newer, of: environment, limit: limit)
  }

  private static func verifyNewest(
    _ source: PageSource, _ names: Set<String>?, limit: Int
  ) throws -> Report {
    var findings = PageFindings(limit: limit)
    // A crash before the first commit leaves such a file, which is a store without trees.
    if try source.isUncommitted() { return Report() }
    let metas = try source.readMetaPages()
    for (number, meta) in metas.enumerated() {
      switch meta.flaw {
      case nil: break
      case .noMagic: findings.add("the meta page bears no mark of LMDB", page: number)
      case .otherVersion: findings.add("the meta page is of another format", page: number)
      case .scribbled: findings.add("the meta page is overwritten", page: number)
      }
    }
    let pages = metas.compactMap(\.page).sorted { $0.transaction > $1.transaction }
    guard let newest = pages.first else {
      return Report(problems: findings.problems, problemsTotal: findings.total)
    }
    if pages.count == 2, pages[0].pageSize != pages[1].pageSize {
      findings.add("the meta pages name two page sizes")
    } else if let flaw = try MetaPages.flaw(of: source) {
      findings.add(flaw)
    }
    let chosen = try pages.first { try fits($0, source) } ?? newest
    if chosen.transaction != newest.transaction {
      findings.add("the file ends before the pages of its last commit; this is the one before")
    } else if try !fits(chosen, source) {
      findings.add("the file is cut short")
    }
    var report = try walk(source, names, from: chosen, findings)
    // The first commit after the checked one uses none of its pages, the second one may.
    let last = try source.readMetaPages().compactMap(\.page?.transaction).max() ?? 0
    report.wasOvertaken = last > chosen.transaction + 1
    return report
  }

  private static func fits(_ meta: MetaPage, _ source: PageSource) throws -> Bool {
    let pagesInFile = try source.byteCount() / meta.pageSize
    if pagesInFile > Int(meta.lastPage) { return true }
    return try PageWalk.endIsFree(of: source, meta: meta, pagesInFile: pagesInFile)
  }

  private static func walk(
    _ source: PageSource, _ names: Set<String>?, from meta: MetaPage, _ findings: PageFindings
  ) throws -> Report {
    var walk = try PageWalk(source: source, meta: meta, findings: findings)
    var trees = [
      try walk.walkTree(.freeList, meta.freeList), try walk.walkTree(.main, meta.main),
    ]
    // A copy of the list, because walking a named tree finds no further ones.
    for (name, record) in walk.namedTrees where names?.contains(name) ?? true {
      trees.append(try walk.walkTree(.named(name), record))
    }
    // Data of another program may have values there, and then has no trees.
    if names == nil, walk.hasPlainValue, !walk.namedTrees.isEmpty {
      walk.findings.add("a value is among the trees", tree: PageWalk.Kind.main.name)
    }
    var report = Report(
      transactionID: Int(clamping: meta.transaction), pageSize: meta.pageSize,
      pagesTotal: Int(meta.lastPage) + 1, pagesFree: walk.freeCount, trees: trees,
      problems: walk.findings.problems, problemsTotal: walk.findings.total)
    if report.problemsTotal == 0, names == nil {
      report.pagesLost = report.pagesTotal - 2 - walk.usedCount - walk.freeCount
      if report.pagesLost > 0, walk.hasShortFreeEntry || walk.hasLostLastPage {
        report.problems = [
          Problem(page: nil, tree: nil, text: "pages are neither free nor in use")
        ]
        report.problemsTotal = 1
      }
    }
    return report
  }
}

/// The problems that have been found: all are counted, the first ones described.
struct PageFindings {
  let limit: Int
  private(set) var problems: [PageFile.Problem] = []
  private(set) var total = 0

  init(limit: Int) { self.limit = limit }

  mutating func add(_ text: String, page: Int? = nil, tree: String? = nil) {
    total += 1
    guard problems.count < limit else { return }
    problems.append(PageFile.Problem(page: page, tree: tree, text: text))
  }
}

import EntityModel
public import EntityStore
import Foundation
import LMDB

/// The result of a check of a whole store: first the pages, then the catalog, then records and
/// indexes. A level is checked only if the level below it is undamaged.
public struct StoreReport: Codable, Sendable {
  public struct Pages: Codable, Sendable {
    public var total = 0
    public var free = 0
    /// Pages that are neither free nor in use. They waste space, but are no damage.
    public var lost = 0
  }

  public var pages = Pages()
  /// The damage of the file and of the catalog; at most `StoreLimits.problemsListedMax` entries.
  public var problems: [String] = []
  public var problemCount = 0
  /// The check of records and indexes; `nil` if pages or catalog are damaged, or if it was not
  /// requested.
  public var integrity: IntegrityReport?

  public var isClean: Bool { problemCount == 0 && integrity?.isClean ?? false }

  fileprivate mutating func add(_ text: String) {
    problemCount += 1
    if problems.count < StoreLimits.problemsListedMax { problems.append(text) }
  }
}

extension Store {
  /// Checks the store in a folder, even one that is too damaged to be opened. Changes nothing.
  ///
  /// The pages are read as a file, which is mapped only after they are known to be undamaged, so
  /// that no damage can end the process. Other programs may read and write during the check.
  ///
  /// - Throws: `storeMissing`, `newerFormat`, `storage` if the file cannot be read. Damage is
  ///   returned in the report.
  public static func check(at folder: String, options: Options = Options()) throws -> StoreReport {
    try check(at: folder, options: options, deeply: true)
  }

  /// Checks the store in a folder.
  ///
  /// - Parameter deeply: False to leave out records, indexes and the change history.
  static func check(
    at folder: String, options: Options, deeply: Bool
  ) throws -> StoreReport {
    try translatingStorageErrors {
      var report = StoreReport()
      var opening = Environment.Options(mapSize: options.mapSize, access: .readOnly)
      opening.guardsFaults = options.endsOnPageFaults
      try report.checkPages(folder, opening)
      if report.problemCount > 0 { return report }
      try report.checkCatalog(folder, opening)
      if report.problemCount > 0 || !deeply { return report }
      report.integrity = try Store.openForReading(at: folder, options).checkIntegrity()
      return report
    }
  }
}

extension StoreReport {
  fileprivate mutating func checkPages(
    _ folder: String, _ opening: Environment.Options
  ) throws {
    let limit = StoreLimits.problemsListedMax
    var found = try PageFile.verify(folder: folder, limit: limit)
    if found.problemsTotal > 0, found.wasOvertaken {
      // Writers have changed pages during the check. A snapshot keeps its pages unchanged, and the
      // store can be opened, because another process writes to it.
      let environment = try Environment.open(at: folder, options: opening)
      found = try PageFile.verify(folder: folder, snapshotOf: environment, limit: limit)
    }
    pages = Pages(total: found.pagesTotal, free: found.pagesFree, lost: found.pagesLost)
    problems = found.problems.map(\.description)
    problemCount = found.problemsTotal
  }

  /// Finds everything that would prevent the store from being opened. Opening itself stops at the
  /// first problem.
  fileprivate mutating func checkCatalog(
    _ folder: String, _ opening: Environment.Options
  ) throws {
    let environment = try Environment.open(at: folder, options: opening)
    let texts = try environment.read { transaction in
      let names = try environment.treeNames(in: transaction)
      guard let tree = try environment.tree(named: CatalogTree.name, in: transaction) else {
        return ["the catalog is missing; the file holds " + names.joined(separator: ", ")]
      }
      return try StoreReport.catalogProblems(tree, Set(names), in: transaction)
    }
    for text in texts { add(text) }
  }

  private static func catalogProblems(
    _ tree: Tree, _ names: Set<String>, in transaction: TreeReader
  ) throws -> [String] {
    var texts: [String] = []
    func noting(_ body: () throws -> Void) throws {
      do {
        try body()
      } catch let error as StoreError where [.damaged, .notAStore].contains(error.code) {
        texts.append(error.description)
      }
    }
    try noting { _ = try StoredCatalog.readHeader(tree, in: transaction) }
    var problems: [CatalogCheck.Problem] = []
    try noting {
      let schema = try CatalogTree.readSchema(tree, in: transaction)
      problems = CatalogCheck.problems(of: schema, treeNames: names)
      let history = try CatalogTree.readHistory(tree, in: transaction)
      problems += CatalogCheck.problems(of: history, schema: schema)
    }
    return texts + problems.map { "\($0.entity): \($0.text)" }
  }
}

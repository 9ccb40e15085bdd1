import EntityModel
public import EntityStore
import Foundation
import LMDB

/// What a check of a whole store found: pages first, then the catalog, then records and indexes.
/// A level is looked at only if the one below it is sound.
public struct StoreReport: Codable, Sendable {
  public struct Pages: Codable, Sendable {
    public var total = 0
    public var free = 0
    /// Neither free nor in use: room that is lost, and no damage.
    public var lost = 0
  }

  public var pages = Pages()
  /// Damage of the file and of the catalog; at most as many as `Limits.problemsListedMax`.
  public var problems: [String] = []
  public var problemCount = 0
  /// `nil` if pages or catalog are damaged, or if it was not asked for.
  public var integrity: IntegrityReport?

  public var isClean: Bool { problemCount == 0 && integrity?.isClean ?? false }

  fileprivate mutating func add(_ text: String) {
    problemCount += 1
    if problems.count < Limits.problemsListedMax { problems.append(text) }
  }
}

extension Store {
  /// Checks the store in a folder, also one that is too damaged to be opened. Changes nothing.
  ///
  /// The pages are read as a file and never mapped until they are known to be sound, so no damage
  /// can end the process. Others may read and write meanwhile.
  ///
  /// - Throws: `storeMissing`, `newerFormat`, `storage` if the file cannot be read. Damage is in
  ///   the report.
  public static func check(at folder: String, options: Options = Options()) throws -> StoreReport {
    try check(at: folder, options: options, deeply: true)
  }

  /// - Parameter deeply: `false` leaves out records, indexes and the history.
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
    let limit = Limits.problemsListedMax
    var found = try PageFile.verify(folder: folder, limit: limit)
    if found.problemsTotal > 0, found.wasOvertaken {
      // Writers were too quick. A snapshot holds the pages still, and the store can be opened:
      // somebody writes to it.
      let environment = try Environment.open(at: folder, options: opening)
      found = try PageFile.verify(folder: folder, snapshotOf: environment, limit: limit)
    }
    pages = Pages(total: found.pagesTotal, free: found.pagesFree, lost: found.pagesLost)
    problems = found.problems.map(\.description)
    problemCount = found.problemsTotal
  }

  /// Finds everything that would keep the store from being opened, where opening stops at the
  /// first.
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

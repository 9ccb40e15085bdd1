package import Foundation
import LMDB

/// A data file that is open for reading, whatever it contains: its catalog may be missing, damaged
/// or that of a newer program. Only files whose pages are undamaged may be opened.
package struct UncheckedStore {
  /// The content of a folder, as far as its catalog shows.
  package enum Identity {
    case nothing
    case store(UUID)
    /// A store whose id cannot be read, because it is damaged or was written by a newer program.
    case unknown
    /// LMDB data of another program.
    case foreign
  }

  private let environment: Environment

  /// Opens the data file in a folder.
  ///
  /// - Throws: `StorageError`, with `.storeMissing` if there is none.
  package init(folder: String, _ options: Store.Options) throws {
    var opening = Environment.Options(mapSize: options.mapSize, access: .readOnly)
    opening.guardsFaults = options.endsOnPageFaults
    opening.writerDeadline = options.writerDeadline
    environment = try Environment.open(at: folder, options: opening)
  }

  /// Returns the identity of the store in a folder. Reads no more of the file than is needed, and
  /// maps it only when that part is known to be undamaged.
  package static func identity(in folder: String, _ options: Store.Options) throws -> Identity {
    guard let mark = try StoreFile(in: folder).mark(), !mark.isUncommitted else {
      return .nothing
    }
    let report = try PageFile.verify(folder: folder, only: [CatalogTree.name], limit: 1)
    guard report.problemsTotal == 0 else { return .unknown }
    return try UncheckedStore(folder: folder, options).identity()
  }

  private func identity() throws -> Identity {
    try environment.read { transaction in
      guard let tree = try environment.tree(named: CatalogTree.name, in: transaction) else {
        return try environment.treeNames(in: transaction).isEmpty ? .nothing : .foreign
      }
      do {
        return .store(try StoredCatalog.readHeader(tree, in: transaction).uuid)
      } catch is StoreError {
        // The error says that the header cannot be read, which is a valid result here.
        return .unknown
      }
    }
  }

  /// Checks that the data is that of a store.
  ///
  /// - Throws: `notAStore`, `newerFormat`, `damaged`.
  package func requireCatalog() throws {
    try environment.read { transaction in
      guard let tree = try environment.tree(named: CatalogTree.name, in: transaction) else {
        throw StoreError(
          .notAStore, "the folder holds no Mooring store", [("folder", environment.folder)],
          advice: "check the path")
      }
      _ = try StoredCatalog.readHeader(tree, in: transaction)
    }
  }

  /// Returns true if records of the store have no seals yet.
  ///
  /// - Throws: `damaged` if the schema cannot be read.
  package func lacksSeals() throws -> Bool {
    try environment.read { transaction in
      guard let tree = try environment.tree(named: CatalogTree.name, in: transaction) else {
        return false
      }
      return try !CatalogTree.readSchema(tree, in: transaction).isFullySealed
    }
  }

  /// Checks the pages on a snapshot, so that writers cannot make them look damaged.
  package func checkPages(limit: Int) throws -> PageReport {
    PageReport(
      try PageFile.verify(folder: environment.folder, snapshotOf: environment, limit: limit))
  }

  /// Returns everything that would prevent the store from being opened. Opening itself stops at the
  /// first problem.
  package func catalogProblems() throws -> [String] {
    try environment.read { transaction in
      let names = try environment.treeNames(in: transaction)
      guard let tree = try environment.tree(named: CatalogTree.name, in: transaction) else {
        return ["the catalog is missing; the file holds " + names.joined(separator: ", ")]
      }
      return try Self.catalogProblems(tree, Set(names), in: transaction)
    }
  }

  private static func catalogProblems(
    _ tree: Tree, _ names: Set<String>, in transaction: TreeReader
  ) throws -> [String] {
    var texts: [String] = []
    func collecting(_ body: () throws -> Void) throws {
      do {
        try body()
      } catch let error as StoreError where [.damaged, .notAStore].contains(error.code) {
        texts.append(error.description)
      }
    }
    try collecting { _ = try StoredCatalog.readHeader(tree, in: transaction) }
    var problems: [CatalogCheck.Problem] = []
    try collecting {
      let schema = try CatalogTree.readSchema(tree, in: transaction)
      problems = CatalogCheck.problems(of: schema, treeNames: names)
      problems += CatalogCheck.historyProblems(of: schema, treeNames: names)
      let history = try CatalogTree.readHistory(tree, in: transaction)
      problems += CatalogCheck.problems(of: history, schema: schema)
      let deferred = try CatalogTree.readDeferred(tree, in: transaction)
      problems += CatalogCheck.problems(of: deferred, schema: schema)
    }
    texts += problems.map { "\($0.entity): \($0.text)" }
    // A contradiction says more than a seal that does not match.
    if texts.isEmpty, let flaw = try CatalogSeal.flaw(tree, in: transaction) { texts = [flaw] }
    return texts
  }

  /// Copies the last commit, without free pages, into the data file of another folder.
  ///
  /// - Parameter progress: Called about ten times a second with the number of copied bytes. Its
  ///   error ends the copy.
  package func copyCompacted(
    to folder: String, progress: (Int) throws -> Void
  ) throws {
    try environment.copy(toFolder: folder, compacting: true, progress: progress)
  }
}

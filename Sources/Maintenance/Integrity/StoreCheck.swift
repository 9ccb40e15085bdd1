import EntityModel
public import EntityStore

/// The result of a check of a whole store: first the pages, then the catalog, then records and
/// indexes. A level is checked only if the level below it is undamaged.
public struct StoreReport: Codable, Sendable {
  /// The pages of the data file, by their use.
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
  /// Notes on values that the check could not verify, and on indexes that are set aside. They are
  /// no damage; `nil` if there are none.
  public var notes: [String]?

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
  /// - Throws: `storeMissing`, `newerFormat`; `notPermitted`, `inputOutput` or another storage
  ///   failure if the file cannot be read. Damage is returned in the report.
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
      try report.checkPages(folder, options)
      if report.problemCount > 0 { return report }
      for text in try UncheckedStore(folder: folder, options).catalogProblems() { report.add(text) }
      if report.problemCount > 0 || !deeply { return report }
      let store = try Store.openForReading(at: folder, options)
      report.integrity = try store.checkIntegrity()
      report.notes = try store.read { try $0.notes() }
      return report
    }
  }
}

extension ReadTransaction {
  /// Returns notes on what has no seals and on indexes that are set aside; `nil` if there are none.
  fileprivate func notes() throws -> [String]? {
    var notes: [String] = []
    for entity in schema.entities {
      let deferred = catalog.deferred[entity.id]
      if deferred.isEmpty { continue }
      let names = deferred.map(\.name).joined(separator: ", ")
      notes.append(
        "a load has set indexes of \(entity.name) aside (\(names)); unless it is running, "
          + "`mooring migrate up` builds them")
    }
    let unsealed = schema.entities.count { $0.seals?.isComplete != true }
    if unsealed > 0 {
      notes.append(
        "damage in values without an index is not found in \(unsealed) entities, whose records "
          + "have no seals; `mooring migrate up` adds them")
    }
    let sealedSince = schema.sealedHistorySince ?? .max
    if let first = try historyTree?.first(), first < sealedSince {
      notes.append("the oldest transactions of the history have no seals")
    }
    return notes.isEmpty ? nil : notes
  }
}

extension StoreReport {
  fileprivate mutating func checkPages(_ folder: String, _ options: Store.Options) throws {
    let limit = StoreLimits.problemsListedMax
    var found = try PageReport(ofFileIn: folder, limit: limit)
    if found.problemCount > 0, found.wasOvertaken {
      // Writers have changed pages during the check. A snapshot keeps its pages unchanged, and the
      // store can be opened, because another process writes to it.
      found = try UncheckedStore(folder: folder, options).checkPages(limit: limit)
    }
    pages = Pages(total: found.total, free: found.free, lost: found.lost)
    problems = found.problems
    problemCount = found.problemCount
  }
}

import EntityModel
public import EntityStore
public import Foundation
public import Migrations

extension MigrationSource {
  /// The migrations that create the system entities of imports. A store that imports is opened with
  /// them.
  public static let legacyImport = MigrationSource(embedded: [
    ("0001_import", PackageResources._001_import_yaml)
  ])
}

/// The state of an import, as the store has recorded it.
public struct ImportStatus: Codable, Hashable, Sendable {
  public let name: String
  public let path: String
  /// `running`, `interrupted` (the next run resumes it), `balanced` or `unbalanced`.
  public fileprivate(set) var state: String
  public let run: Int64
  public let startedAt: Date
  public let finishedAt: Date?
  /// The report of the last completed run.
  public let report: ImportReport?
  public let rejects: Int64
}

extension Store {
  /// Returns the imports of this store, by name.
  ///
  /// - Returns: None where the store has no entities for it.
  public func imports() throws -> [ImportStatus] {
    try read { snapshot in
      guard snapshot.schema.entity(named: ImportRecords.source) != nil else { return [] }
      let decoder = JSONDecoder()
      decoder.dateDecodingStrategy = .iso8601
      var found: [ImportStatus] = []
      var request = FetchRequest(entityName: ImportRecords.source)
      request.sortBy = [SortKey("name")]
      for record in try snapshot.fetch(request) {
        let rejects = try snapshot.count(ImportReject.request(of: record.id.number))
        var status = try ImportStatus(record, rejects: rejects, decoder)
        if status.state == "running", !ImportLease.isHeld(status.name, in: self) {
          status.state = "interrupted"
        }
        found.append(status)
      }
      return found
    }
  }

  /// Calls the closure with each row and link that the last run of an import rejected, in order of
  /// code.
  ///
  /// - Returns: True if there is an import of this name.
  public func eachImportReject(
    of name: String, _ body: (ImportReject) throws -> Void
  ) throws -> Bool {
    try read { snapshot in
      guard snapshot.schema.entity(named: ImportRecords.source) != nil,
        let source = try snapshot.objectID(ImportRecords.source, by: ["name": .string(name)])
      else { return false }
      try snapshot.forEach(ImportReject.request(of: source.number)) { record in
        try body(try ImportReject(record))
        return true
      }
      return true
    }
  }
}

extension ImportStatus {
  fileprivate init(_ record: Record, rejects: Int, _ decoder: JSONDecoder) throws {
    func date(_ name: String) throws -> Date? {
      if case .date(let date) = try record[name] { date } else { nil }
    }
    name = try record.text("name") ?? ""
    path = try record.text("path") ?? ""
    state = try record.text("state") ?? ""
    run = if case .int64(let run) = try record["run"] { run } else { 0 }
    startedAt = try date("startedAt") ?? .distantPast
    finishedAt = try date("finishedAt")
    report =
      if case .data(let data) = try record["report"] {
        // One that another version of the program wrote is none.
        try? decoder.decode(ImportReport.self, from: data)
      } else {
        nil
      }
    self.rejects = Int64(rejects)
  }
}

extension Record {
  fileprivate func text(_ name: String) throws -> String? {
    if case .string(let text) = try self[name] { text } else { nil }
  }
}

extension ImportReject {
  fileprivate init(_ record: Record) throws {
    self.init(
      number: record.id.number, table: try record.text("table") ?? "",
      key: try record.text("key") ?? "", entity: try record.text("entity") ?? "",
      property: try record.text("property"), code: try record.text("code") ?? "",
      message: try record.text("message") ?? "", row: try record.text("row") ?? "")
  }

  fileprivate static func request(of source: Int64) throws -> FetchRequest {
    var request = FetchRequest(entityName: ImportRecords.reject)
    request.predicate = try FetchPredicate(format: "source == %@", source)
    request.sortBy = [SortKey("code")]
    return request
  }
}

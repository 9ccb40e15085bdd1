import CMooringSQLite
import EntityModel
package import EntityStore
import Foundation
import TextFormats

/// Writes the records of a store into an SQLite file, as they are in one snapshot.
package struct StoreExport {
  /// The progress of an export.
  package struct Progress: Sendable {
    /// The table whose rows are written; nil while its indexes are built.
    package let table: String?
    package let done: Int64
    package let total: Int64
  }

  /// The content of the file.
  package struct Report: Sendable {
    package var tables = 0
    package var rows: Int64 = 0
  }

  private let transaction: ReadTransaction
  private let schema: ExportSchema
  private let total: Int64
  private var done: Int64 = 0
  private let progress: (Progress) -> Void

  /// - Parameter includesSystem: True to export the entities of the system as well.
  package init(
    _ transaction: ReadTransaction, includesSystem: Bool,
    progress: @escaping (Progress) -> Void = { _ in }
  ) throws {
    self.transaction = transaction
    self.progress = progress
    schema = ExportSchema(transaction.schema, includesSystem: includesSystem)
    total = try schema.tables.reduce(0) {
      $0 + Int64(try transaction.count(of: $1.entity.name))
    }
  }

  /// Fills an empty file. It is complete after the return, and not flushed. After an error it must
  /// be removed.
  ///
  /// Memory is bounded by some tens of megabytes.
  ///
  /// - Throws: ``ExportError``; `StoreError`, such as `damaged` with the record;
  ///   `CancellationError`.
  /// - Complexity: O(*n* · log *n*) for *n* records.
  package mutating func write(
    to path: String, isCancelled: @escaping () -> Bool = { false }
  ) throws -> Report {
    let writer = try SQLiteWriter(path, isCancelled: isCancelled)
    var report = Report()
    // One transaction: each commit would write the pages that the next one changes again.
    try writer.execute("BEGIN")
    for table in schema.tables {
      try writer.execute(table.creation)
      report.rows += try writeRows(of: table, with: writer, isCancelled)
      // After the rows: keys that are sorted first fill their pages in order.
      progress(Progress(table: nil, done: done, total: total))
      for index in table.indexes { try writer.execute(index) }
      report.tables += 1
    }
    try writer.execute("COMMIT")
    return report
  }

  /// The rows between two questions whether the export is cancelled.
  private static let rowsAtOnce: Int64 = 1_000

  /// - Returns: The number of rows.
  private mutating func writeRows(
    of table: ExportSchema.Table, with writer: SQLiteWriter, _ isCancelled: () -> Bool
  ) throws -> Int64 {
    let insertion = try writer.prepare(table.insertion)
    var rows: Int64 = 0
    var records: Int64 = 0
    try transaction.forEachStored(table.entity.name) { stored in
      if records % Self.rowsAtOnce == 0 {
        if isCancelled() { throw CancellationError() }
        progress(Progress(table: table.name, done: done + records, total: total))
      }
      records += 1
      let record = try stored.read()
      let values = record.fields.map(\.value)
      for column in table.columns { try bind(column, of: record.id, values, to: insertion) }
      try insertion.insert()
      rows += 1
      guard table.isSymmetric, let back = Self.back(of: table, values) else { return true }
      for value in back { try bind(value, to: insertion) }
      try insertion.insert()
      rows += 1
      return true
    }
    done += records
    return rows
  }

  /// Returns the values of the other row of a link; nil for the link of a record to itself.
  private static func back(of table: ExportSchema.Table, _ values: [Value]) -> [Value]? {
    var back = table.columns.map { column in
      if case .attribute(let position) = column.source { values[position] } else { Value.null }
    }
    if back[0] == back[1] { return nil }
    back.swapAt(0, 1)
    return back
  }

  // MARK: Values

  private func bind(
    _ column: ExportSchema.Column, of id: ObjectID, _ values: [Value], to insertion: SQLiteInsertion
  ) throws {
    switch column.source {
    case .number: try insertion.bind(id.number)
    case .attribute(let position): try bind(values[position], to: insertion)
    case .relationship(let name):
      guard let other = try transaction.relatedObject(id, name) else {
        return try insertion.bindNull()
      }
      try insertion.bind(other.number)
    }
  }

  private func bind(_ value: Value, to insertion: SQLiteInsertion) throws {
    switch value {
    case .null: try insertion.bindNull()
    case .int64(let number): try insertion.bind(number)
    case .double(let number): try insertion.bind(number)
    case .bool(let flag): try insertion.bind(flag ? 1 : Int64(0))
    case .date(let date): try insertion.bind(Self.text(of: date))
    case .data(let data): try insertion.bind(data)
    case .strings: try insertion.bind(value.json(.required))
    case .decimal, .string, .uuid, .url: try insertion.bind(value.text)
    }
  }

  /// Returns the date in UTC with six digits of the second's fraction: a fixed length, so that the
  /// texts sort as the dates do. A date outside of the years 1 to 9999 is a number of seconds since
  /// 2001 with the letter s.
  private static func text(of date: Date) -> String {
    var text = Value.date(date).text
    guard text.hasSuffix("Z") else { return text }
    text.removeLast()
    let fraction = text.utf8.count - secondsLength
    if fraction == 0 { text += "." }
    return text + String(repeating: "0", count: fraction == 0 ? 6 : 7 - fraction) + "Z"
  }

  /// The length of `2026-11-20T10:00:00`.
  private static let secondsLength = 19
}

/// The error of a file that SQLite cannot write.
package struct ExportError: Error, CustomStringConvertible {
  /// The result code of SQLite.
  package let code: Int32
  /// One line: the problem and the remedy.
  package let description: String

  init(_ code: Int32, _ reason: String) {
    self.code = code
    description =
      code & 0xff == SQLITE_FULL || code & 0xff == SQLITE_IOERR
      ? "the SQLite file cannot be written: \(reason); make room there and in $TMPDIR"
      : "the SQLite file cannot be written: \(reason)"
  }
}

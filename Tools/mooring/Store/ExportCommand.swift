import ArgumentParser
package import Console
import EntityStore
import Foundation
package import SQLiteExport
import SystemSupport

struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes all records into an SQLite file, for Datasette and other programs.",
    discussion: """
      mooring export episodes.sqlite

      Each entity is a table, and each to-one relationship a foreign key; a relationship that is \
      to-many in both directions is a table of pairs. Dates are ISO 8601 in UTC, decimals and \
      UUIDs texts, lists JSON. The file is of one moment, and gets its name when it is complete; \
      until then it is FILE.partial. While an export runs, the store's file cannot reuse the pages \
      that writers replace.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The SQLite file.", completion: .file()) var file: String
  @Flag(help: "Replace the file if it exists.") var force = false
  @Flag(help: "Also the entities of the system, such as _Feed and _Job.") var system = false
  @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

  func validate() throws {
    try format.require(.table, .json)
    if file.isEmpty || file == "-" {
      throw ValidationError("name a file: SQLite cannot write to standard output")
    }
  }

  private struct Summary: Encodable {
    let path: String
    let tables: Int
    let rows: Int64
    let bytes: Int64
  }

  func run() async throws {
    let store = try options.openToRead()
    try refuseStore()
    let partial = try PartialFile(file, replaces: force)
    defer { partial.discard() }
    let report = try await write(store, to: partial.partialPath)
    var status = stat()
    // A size that is not known is 0.
    _ = fstat(partial.descriptor, &status)
    try partial.finish()
    let summary = Summary(
      path: URL(fileURLWithPath: file).path, tables: report.tables, rows: report.rows,
      bytes: Int64(status.st_size))
    try format.write(summary) { output in
      var table = TextTable([
        .init("file", .text), .init("tables", .number), .init("rows", .number),
        .init("size", .number),
      ])
      table.append([
        file, Formatting.count(Int64(summary.tables)), Formatting.count(summary.rows),
        Formatting.bytes(summary.bytes),
      ])
      try output.write(table)
    }
  }

  private func write(_ store: Store, to path: String) async throws -> StoreExport.Report {
    let command = LongCommand(isQuiet: options.quiet)
    let system = system
    return try await command.runBlocking(afterInterrupt: "nothing was exported") {
      try store.read { transaction in
        var export = try StoreExport(transaction, includesSystem: system) { progress in
          command.report(
            progress.table ?? "building indexes", done: progress.done, of: progress.total)
        }
        return try export.write(to: path) { command.isInterrupted }
      }
    }
  }

  /// - Throws: `CommandError` for a path in the folder of the store, whose files it would replace.
  private func refuseStore() throws {
    func folder(_ path: String) -> String {
      URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }
    let parent = URL(fileURLWithPath: file).deletingLastPathComponent().path
    guard folder(parent) == folder(options.folder) else { return }
    throw CommandError(.usage, "\"\(file)\" is in the folder of the store; name another folder")
  }
}

extension ExportError: ExitStatusProviding {
  package var exitStatus: ExitStatus { .inputOutput }
}

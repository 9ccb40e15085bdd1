import ArgumentParser
import Console
import EntityModel
import EntityStore
import Foundation
import LegacyImport
import TextFormats

extension ImportCommand {
  struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status",
      abstract: "Lists the imports of this store; with a name, shows the last run of one.",
      discussion: """
        mooring import status library
        """)

    @OptionGroup var options: StoreOptions
    @Argument(help: "The import, as its mapping names it.") var name: String?
    @Option(help: "table or json; without a name also jsonl.") var format = OutputFormat.table

    func validate() throws {
      if name == nil {
        try format.require(.table, .json, .jsonl)
      } else {
        try format.require(.table, .json)
      }
    }

    func run() async throws {
      let store = try options.openToRead()
      guard let name else { return try list(try store.imports()) }
      let status = try store.importStatus(of: name)
      try format.write(status) { output in
        try write(status, try RejectExamples(of: name, in: store), &output)
      }
    }

    private func list(_ all: [ImportStatus]) throws {
      try StandardOutput.with { output in
        switch format {
        case .json: try output.write(try JSONText.of(all) + "\n")
        case .jsonl: for status in all { try output.write(try JSONText.of(status) + "\n") }
        case .table, .csv, .exactCSV: if !all.isEmpty { try output.write(Self.table(all)) }
        }
      }
      if all.isEmpty, !options.quiet { Message.say("nothing was imported into this store") }
    }

    private static func table(_ all: [ImportStatus]) -> TextTable {
      var table = TextTable([
        .init("import"), .init("state"), .init("run", .number), .init("rows", .number),
        .init("rejects", .number), .init("begun"), .init("ended"), .init("file"),
      ])
      for status in all {
        table.append([
          status.name, status.state, String(status.run), rows(of: status),
          Formatting.count(status.rejects), time(status.startedAt), time(status.finishedAt),
          status.path,
        ])
      }
      return table
    }

    private static func rows(of status: ImportStatus) -> String {
      guard status.finishedAt != nil, let report = status.report else { return "" }
      return Formatting.count(
        report.tables.reduce(0) { $0 + $1.accepted + $1.rejected + $1.skipped + $1.unreadable })
    }

    private static func time(_ date: Date?) -> String {
      guard let date else { return "" }
      return Value.date(Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))).text
    }

    private func write(
      _ status: ImportStatus, _ examples: RejectExamples, _ output: inout StandardOutput
    ) throws {
      var table = TextTable([.init("import"), .init(status.name)])
      for (name, value) in [
        ("state", status.state), ("run", String(status.run)), ("file", status.path),
        ("begun", Self.time(status.startedAt)), ("ended", Self.time(status.finishedAt)),
        ("rejects", Formatting.count(status.rejects)),
      ] where !value.isEmpty { table.append([name, value]) }
      try output.write(table)
      if let report = status.report {
        try output.write(
          report.run == status.run ? "\n" : "\nthe last run that came to its end:\n\n")
        try ImportReportText(report: report, examples: examples).write(&output)
      }
      for line in notes(status) { try output.write(line.singleLine + "\n") }
    }

    private func notes(_ status: ImportStatus) -> [String] {
      if status.state == "running" { return ["the run is in progress"] }
      if status.finishedAt == nil {
        return ["repeat the same `mooring import run` to resume it"]
      }
      guard status.rejects > 0 else { return [] }
      let rejects = options.commandLine(["import", "rejects", status.name])
      return ["`\(rejects)` lists the rejected rows; correct the mapping and run again"]
    }
  }
}

extension Store {
  /// - Throws: `CommandError` if there is no such import.
  func importStatus(of name: String) throws -> ImportStatus {
    let all = try imports()
    if let status = all.first(where: { $0.name == name }) { return status }
    let names = all.map(\.name)
    let list =
      names.isEmpty
      ? "nothing was imported into this store" : "known are " + names.joined(separator: ", ")
    let advice = NearestName.advice(on: name, among: names, otherwise: list)
    throw CommandError(.unavailable, "there is no import \"\(name)\" here; \(advice)")
  }
}

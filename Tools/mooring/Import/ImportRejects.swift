import ArgumentParser
import Console
import EntityStore
import LegacyImport

extension ImportCommand {
  struct Rejects: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rejects",
      abstract: "Lists the rows and links that the last run of an import rejected, and why.",
      discussion: """
        mooring import rejects library --limit 20

        On a terminal as a table, elsewhere one object of JSON on each line, with the row as it \
        was read. To take them over, correct the mapping and run the import again: what the store \
        has already is not written again.
        """)

    @OptionGroup var options: StoreOptions
    @Argument(help: "The import, as its mapping names it.") var name: String
    @Option(help: ArgumentHelp("Only those with this code, such as orphan.", valueName: "code"))
    var code: String?
    @Option(help: ArgumentHelp("At most so many.", valueName: "n")) var limit: Int?
    @Option(help: "table or jsonl. Default: table on a terminal, jsonl elsewhere.")
    var format: OutputFormat?

    func validate() throws {
      try format?.require(.table, .jsonl)
      if let limit, limit < 0 { throw ValidationError("--limit cannot be negative") }
    }

    func run() async throws {
      let store = try options.openToRead()
      let status = try store.importStatus(of: name)
      let shown = try StandardOutput.with { output in
        let isTable = format.map { $0 == .table } ?? (output.terminalWidth != nil)
        return try isTable ? writeTable(store, &output) : writeLines(store, &output)
      }
      if options.quiet { return }
      if let advice = advice(shown, of: status) { Message.say(advice) }
    }

    private func writeLines(_ store: Store, _ output: inout StandardOutput) throws -> Int {
      try each(store) { try output.write($0.json + "\n") }
    }

    private func writeTable(_ store: Store, _ output: inout StandardOutput) throws -> Int {
      let rowsMax = 500
      var table = TextTable([
        .init("code"), .init("table"), .init("key"), .init("of"), .init("why"),
      ])
      let shown = try each(store) { reject in
        table.append([
          reject.code, reject.table, reject.key,
          reject.property.map { "\(reject.entity).\($0)" } ?? reject.entity, reject.message,
        ])
        if table.rowCount >= rowsMax {
          try output.write(table.takeText(width: output.terminalWidth))
        }
      }
      if shown > 0 { try output.write(table.takeText(width: output.terminalWidth)) }
      return shown
    }

    /// - Returns: The number of rejects, up to the limit.
    private func each(_ store: Store, _ body: (ImportReject) throws -> Void) throws -> Int {
      struct LimitReached: Error {}
      var count = 0
      do {
        _ = try store.eachImportReject(of: name) { reject in
          if let code, reject.code != code { return }
          if let limit, count >= limit { throw LimitReached() }
          count += 1
          try body(reject)
        }
      } catch is LimitReached {}
      return count
    }

    private func advice(_ shown: Int, of status: ImportStatus) -> String? {
      if status.rejects == 0 { return "nothing was rejected" }
      let codes = (status.report?.rejects ?? [:]).filter { $0.value > 0 }.keys.sorted()
      if shown == 0, let code, limit != 0 {
        return "nothing was rejected as \(code); the codes are \(codes.joined(separator: ", "))"
      }
      return
        "\(Formatting.count(Int64(shown))) of \(Formatting.count(status.rejects)); correct the "
        + "mapping, "
        + "and run the import again: it tries the rejected rows again"
    }
  }
}

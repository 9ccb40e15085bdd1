import ArgumentParser
import Console
import EntityStore
import Foundation
import StoreHub

extension HubCommand {
  struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status", abstract: "Shows the machines of the hub and how far they are.",
      discussion: """
        mooring hub status --hub service=mooring
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var hub: HubOptions
    @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

    func validate() throws { try format.require(.table, .json) }

    func run() async throws {
      let membership = try options.membership()
      let database = try hub.database(of: membership)
      let report = try translatingStorageErrors {
        var session = try HubSession(database)
        return try session.report(on: membership)
      }
      try format.write(report) { output in
        try output.write(
          TextTable(facts: [
            ("hub", report.name),
            ("newest entry", Formatting.count(Int64(clamping: report.newestEntry))),
            ("oldest entry", Formatting.count(Int64(clamping: report.oldestEntry))),
            (
              "snapshots at",
              report.snapshots.map { Formatting.count(Int64(clamping: $0)) }.joined(separator: ", ")
            ),
          ]))
        try output.write("\n")
        var table = TextTable([
          .init("machine", .text), .init("entry", .number), .init("missing", .number),
          .init("seen", .number), .init("program", .text),
        ])
        for machine in report.machines {
          table.append([
            machine.name + (machine.isThis ? " (this)" : ""),
            Formatting.count(Int64(clamping: machine.entry)),
            Formatting.count(Int64(clamping: machine.missing)),
            Formatting.duration(.seconds(max(0, machine.seenSecondsAgo))), machine.program,
          ])
        }
        try output.write(table)
      }
    }
  }

  struct Trim: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "trim", abstract: "Removes the oldest entries of the hub's log.",
      discussion: """
        mooring hub trim --hub service=mooring

        Copies the store into the hub first. The log then begins after the older of the two \
        newest copies; a machine that lacks entries before that joins again.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var hub: HubOptions
    @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

    func validate() throws { try format.require(.table, .json) }

    func run() async throws {
      let membership = try options.membership()
      let database = try hub.database(of: membership)
      let store = try options.open()
      let report = try await LongCommand(isQuiet: options.quiet).copyingSnapshot(
        afterInterrupt: "nothing was removed"
      ) { progress in
        var session = try HubSession(database)
        return try session.trim(store, of: membership.hub, progress: progress)
      }
      try format.write(report) { output in
        var table = TextTable([
          .init("snapshot at", .number), .init("oldest entry", .number), .init("removed", .number),
        ])
        table.append([
          Formatting.count(Int64(clamping: report.snapshot)),
          Formatting.count(Int64(clamping: report.firstEntry)),
          Formatting.count(Int64(report.entriesRemoved)),
        ])
        try output.write(table)
      }
    }
  }

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Tries whether a database can hold a hub, or compares the machines of one.",
      discussion: """
        mooring hub check --hub service=mooring
        mooring hub check --digest

        Creates the schema mooring if it is missing, and tries there what a hub relies on, beside \
        hubs that are in use. Needs no store. With --digest it compares everything that the \
        machines have instead: those with a worker answer, and nobody writes until then. Ends \
        with 65 if something is missing or differs.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var hub: HubOptions
    @Flag(help: "Compare the stores of all machines at one entry of the log.") var digest = false
    @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

    func validate() throws { try format.require(.table, .json) }

    func run() async throws {
      if digest { return try await compareDigests() }
      let database = try hub.database()
      let findings = try translatingStorageErrors { try EngineCheck(database).run() }
      try format.write(findings) { output in
        var table = TextTable([.init("requirement"), .init("result")])
        for finding in findings {
          table.append([
            finding.requirement,
            finding.problem.map { finding.isOptional ? "missing, not needed: \($0)" : "no: \($0)" }
              ?? "yes",
          ])
        }
        try output.write(table)
      }
      if findings.contains(where: { $0.problem != nil && !$0.isOptional }) {
        throw ExitStatus.badData.exitCode
      }
    }

    private func compareDigests() async throws {
      let membership = try options.membership()
      let address = HubAddress(
        database: try hub.database(of: membership), membership: membership)
      let store = try options.open()
      let report = try translatingStorageErrors { try HubCommitLog(address).compareDigests(store) }
      try format.write(report) { output in
        var table = TextTable([.init("machine"), .init("entry", .number), .init("digest")])
        for machine in report.machines {
          let result = machine.digest.map { machine.isEqual ? $0 : "\($0), differs" }
          table.append([
            machine.name, Formatting.count(Int64(clamping: report.entry)), result ?? "no answer",
          ])
        }
        try output.write(table)
      }
      if !report.isEqual { throw ExitStatus.badData.exitCode }
    }
  }
}

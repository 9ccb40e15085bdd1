import ArgumentParser
import Console
import EntityStore
import Foundation
import Migrations
import StoreHub
import StoreTables
import SystemSupport

extension HubCommand {
  struct Tables: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "tables", abstract: "Writes tables for readers of SQL, from the history.",
      discussion: """
        mooring hub tables --entity Episode --grant analysts

        This makes the table mooring_NAME."Episode" in the database of the hub NAME, with a column \
        for each attribute, and lets the role analysts read it. Without --entity the command \
        brings all tables up to date that were made before; with --follow it goes on doing so \
        until SIGTERM. All tables show one commit of the store. One process of all machines writes \
        them.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var hub: HubOptions
    @Option(
      help: ArgumentHelp("An entity that gets a table; may be repeated.", valueName: "name"),
      completion: .entity)
    var entity: [String] = []
    @Option(
      help: ArgumentHelp(
        "A role that may read the tables, also those to come, or public; may be repeated.",
        valueName: "role"))
    var grant: [String] = []
    @Flag(help: "Go on with every change of the store, until SIGTERM or Ctrl-C.")
    var follow = false
    @Flag(help: "Remove the tables of the entities that are named; without names all tables.")
    var drop = false
    @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

    func validate() throws {
      try format.require(.table, .json)
      if drop, follow || !grant.isEmpty {
        throw ValidationError("--drop goes with neither --follow nor --grant")
      }
      if grant.contains("") { throw ValidationError("--grant needs the name of a role") }
    }

    func run() async throws {
      let membership = try options.membership()
      let address = HubAddress(
        database: try hub.database(of: membership), membership: membership)
      var opening = try options.storeOptions()
      address.addLog(to: &opening)
      let store = try Store.open(
        at: options.folder, migrations: options.allSources, migrate: .never, options: opening)
      let lease = try translatingStorageErrors {
        try TablesLease(of: store, machine: membership.machineName, now: Date())
      }
      defer { lease.release() }
      let writer = TableWriter(store, of: address)
      if drop { return try dropTables(writer) }
      let update = Update(
        store: store, writer: writer, lease: lease, command: LongCommand(isQuiet: options.quiet),
        entities: entity, readers: grant, isQuiet: options.quiet, format: format)
      if follow {
        let follower = try translatingStorageErrors { try HubFollower(store, of: address) }
        defer { follower.stop() }
        try await update.follow()
      } else {
        try await update.runOnce()
      }
    }

    private func dropTables(_ writer: TableWriter) throws {
      let dropped = try translatingStorageErrors { try writer.drop(entity) }
      try format.write(dropped) { output in
        for name in dropped { try output.write("dropped \(name)\n") }
      }
    }
  }
}

/// The updates of one command.
private struct Update: Sendable {
  let store: Store
  let writer: TableWriter
  let lease: TablesLease
  let command: LongCommand
  let entities: [String]
  let readers: [String]
  let isQuiet: Bool
  let format: OutputFormat

  /// The time between two tries while the database cannot be reached.
  private static let pause = Duration.seconds(2)

  func runOnce() async throws {
    try write(
      try await command.runBlocking(afterInterrupt: "nothing was changed") {
        try update(adding: entities, readers: readers)
      })
  }

  /// Ends without an error when it is interrupted: nothing is left to do then.
  func follow() async throws {
    let observation = try store.commits.observe()
    try await command.run(afterInterrupt: "the tables stay as they are") {
      do {
        let report = try await onThread { try update(adding: entities, readers: readers) }
        try write(report)
        if !isQuiet { Message.say("following the store; SIGTERM or Ctrl-C ends it") }
        try await follow(observation, after: report.commit)
      } catch is CancellationError {}
    }
  }

  private func follow(_ observation: CommitObservation, after commit: Int) async throws {
    var (commit, isCutOff) = (commit, false)
    while true {
      if !isCutOff { commit = try await observation.next(after: commit) }
      do {
        commit = try await onThread {
          try translatingStorageErrors { try lease.check() }
          return try update().commit
        }
        if isCutOff, !isQuiet { Message.say("the tables are up to date again") }
        isCutOff = false
      } catch let error where passes(error) {
        if !isCutOff { Message.say("\(error)") }
        isCutOff = true
        try await Task.sleep(for: Self.pause)
      }
    }
  }

  private func passes(_ error: any Error) -> Bool {
    if let error = error as? TablesError { return error.code == .busy }
    return (error as? StoreError)?.isTemporary ?? false
  }

  private func update(
    adding entities: [String] = [], readers: [String] = []
  ) throws -> TablesReport {
    defer { command.finish() }
    return try translatingStorageErrors {
      try writer.update(adding: entities, readers: readers) { progress in
        try command.checkInterrupt()
        command.report(
          "writing \(progress.entity)", done: Int64(progress.done),
          of: progress.total.map { Int64($0) })
      }
    }
  }

  /// Runs blocking work outside of the threads of tasks, which are few.
  private func onThread<R: Sendable>(
    _ work: @escaping @Sendable () throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
  }

  private func write(_ report: TablesReport) throws {
    try format.write(report) { output in
      var table = TextTable([
        .init("table", .whole), .init("rows", .number), .init("written", .number),
        .init("removed", .number), .init("how"),
      ])
      for row in report.tables {
        table.append([
          row.name, Formatting.count(Int64(row.rows)), Formatting.count(Int64(row.written)),
          Formatting.count(Int64(row.removed)), row.isFilled ? "filled" : "followed",
        ])
      }
      try output.write(table)
      for name in report.dropped { try output.write("dropped \(name), whose entity is gone\n") }
    }
  }
}

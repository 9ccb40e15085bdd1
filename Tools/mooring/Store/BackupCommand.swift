import ArgumentParser
import Console
import DurableJobs
import EntityStore
import Foundation
import Maintenance
import StoreJobs

struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies the store into a new folder while it is in use.",
    discussion: """
      mooring backup /backups/monday
      mooring backup /backups/monday --compact --quiet

      The copy is of one moment, is read back before it gets its name, and is a store like any \
      other: `mooring home --store FOLDER` shows what is in it. Until then it is in \
      FOLDER.partial, which Ctrl-C removes, and after a kill the next backup to the same folder.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "A folder that does not exist yet, or is empty.", completion: .directory)
  var folder: String
  @Flag(help: "Omit free pages: a smaller copy for more processor time.") var compact = false
  @OptionGroup var job: DetachOptions
  @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

  func validate() throws {
    try format.require(.table, .json)
    if folder.isEmpty { throw ValidationError("name a folder for the backup") }
  }

  func run() async throws {
    if job.detach {
      let backup = BackUpStore(to: URL(fileURLWithPath: folder).path, isCompacting: compact)
      return try await job.enqueue(backup, in: try options.jobsToWrite().store, options, format)
    }
    let store = try options.openToRead()
    let (folder, compact) = (folder, compact)
    let report = try await LongCommand(isQuiet: options.quiet).copy { progress in
      try store.backUp(to: folder, compacting: compact, progress: progress)
    }
    store.record(report)
    try format.write(report) { output in
      var table = TextTable([
        .init("backup", .text), .init("size", .number), .init("transaction", .number),
        .init("store", .text),
      ])
      table.append([
        report.path, Formatting.bytes(Int64(report.bytes)),
        Formatting.count(report.transaction), report.storeID.uuidString,
      ])
      try output.write(table)
    }
  }
}

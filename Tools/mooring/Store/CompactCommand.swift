import ArgumentParser
import Console
import DurableJobs
import EntityStore
import Maintenance
import StoreJobs

struct CompactCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Removes the free pages from the store's file.",
    discussion: """
      mooring compact --format json

      Needs room for the smaller file beside the old one, and that nobody has the store open; ends \
      with 75 otherwise, and nothing is changed. There is seldom a reason to: free pages are used \
      again by later writes (`mooring-dump stats` counts them). The records of a store of an \
      earlier version get seals first, as by `mooring migrate up`.
      """)

  @OptionGroup var options: StoreOptions
  @OptionGroup var job: DetachOptions
  @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

  func validate() throws { try format.require(.table, .json) }

  func run() async throws {
    if job.detach {
      let queue = try options.jobsToWrite()
      return try await job.enqueue(CompactStore(), in: queue.store, options, format)
    }
    let opening = try options.storeOptions()
    let folder = options.folder
    let report = try await LongCommand(isQuiet: options.quiet).copy { progress in
      try Store.compact(at: folder, options: opening, progress: progress)
    }
    try format.write(report) { output in
      var table = TextTable([
        .init("store", .text), .init("before", .number), .init("after", .number),
      ])
      table.append([
        report.path, Formatting.bytes(Int64(report.bytesBefore)),
        Formatting.bytes(Int64(report.bytesAfter)),
      ])
      try output.write(table)
    }
  }
}

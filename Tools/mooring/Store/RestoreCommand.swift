import ArgumentParser
import Console
import EntityStore
import Foundation
import Maintenance

struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Replaces the store by a backup, or creates it from one.",
    discussion: """
      mooring restore /backups/monday

      The backup is copied and checked first; only then, and while nobody has the store open, does \
      it take the place of data.mdb. The replaced file stays beside it as \
      data.mdb.replaced-TIME, and `mooring restore` of that file goes back. Ends with 75 if \
      somebody has the store open, 65 if the backup is damaged, 73 if another store is there; \
      nothing is changed then.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The folder of a backup, or its data file.", completion: .directory)
  var source: String
  @Flag(
    inversion: .prefixedNo,
    help: "Check records against indexes and back; the pages are checked in any case.")
  var check = true
  @Flag(help: "Replace the store also if the backup is of another one.")
  var replaceOtherStore = false
  @Flag(help: "Remove the replaced file.") var discardReplaced = false
  @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

  func validate() throws { try format.require(.table, .json) }

  func run() async throws {
    var choices = RestoreOptions()
    choices.checksDeeply = check
    choices.replacesOtherStore = replaceOtherStore
    choices.keepsReplaced = !discardReplaced
    if (try? options.membership()) != nil {
      throw CommandError(
        .cannotCreate,
        "the store \(options.folder) is in a hub, and a backup would undo what other machines have;"
          + " restore into another folder, or leave the hub first with `mooring hub leave`")
    }
    let opening = try options.storeOptions()
    let (source, folder, restore) = (source, options.folder, choices)
    let report = try await LongCommand(isQuiet: options.quiet).copy { progress in
      try Store.restore(
        from: source, to: folder, options: restore, opening: opening, progress: progress)
    }
    try format.write(report) { output in
      var table = TextTable([
        .init("restored", .text), .init("size", .number), .init("transaction", .number),
        .init("store", .text),
      ])
      table.append([
        report.path, Formatting.bytes(Int64(report.bytes)),
        Formatting.count(report.transaction), report.storeID.uuidString,
      ])
      try output.write(table)
    }
    if let file = report.replacedFile, !options.quiet {
      Message.say("the replaced file is kept as \(file); remove it when the store is verified")
    }
  }
}

import ArgumentParser
import Console
import Foundation
import StatusModel
import StatusPages
import SystemSupport

struct ReportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Writes the status as one HTML file, to send or to keep.",
    discussion: """
      mooring report -o report.html

      The file has what `mooring serve` shows, without the records, and needs nothing besides \
      itself. URLs are without secrets.
      """)

  @OptionGroup var options: StoreOptions
  @Option(
    name: [.short, .long],
    help: ArgumentHelp("The file; default: standard output.", valueName: "path"),
    completion: .file())
  var output: String?
  @Flag(help: "Replace a file that exists.") var force = false

  func run() async throws {
    let store = try options.openToRead(options.allSources)
    let document = try StatusReport.document(try StatusReader(ofWorkerOn: store).read())
    guard let output else { return try StandardOutput.with { try $0.write(document) } }
    let file = try PartialFile(output, replaces: force)
    try StandardOutput.with(descriptor: file.descriptor) { try $0.write(document) }
    try file.finish()
    if !options.quiet { Message.say("the report is in \(output)") }
  }
}

import ArgumentParser
import Foundation

/// A part of the table that can also be run alone.
protocol BenchPart: ParsableCommand, Sendable {
  var output: OutputOptions { get }
  var setting: SettingOptions { get }

  func measure() async throws -> [Section]
}

extension BenchPart {
  func run() throws { try output.report(isQuick: setting.quick) { try await measure() } }
}

/// Where and how thoroughly a part is measured.
struct SettingOptions: ParsableArguments {
  @Flag(help: "A smoke run: little of everything. It judges nothing.") var quick = false
  @Option(help: "Where the temporary folder is made (default: the system's).") var dir: String?

  func scratch(needing bytes: Int) throws -> ScratchFolder {
    let parent = dir.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
    return try ScratchFolder(in: parent, needing: bytes)
  }
}

/// What becomes of the results.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print JSON instead of a table.") var json = false
  @Option(help: "Also draw the ratios as an SVG file.") var chart: String?
  @Option(help: "What the chart says of the machine and the date (default: what this one says).")
  var caption: String?

  /// Prints what was measured, or ends with the exit status that its error has.
  func report(
    isQuick: Bool, _ measure: @escaping @Sendable () async throws -> [Section]
  ) throws {
    do {
      let results = Results(sections: try blocking(measure), isQuick: isQuick)
      print(json ? try results.json() : results.table())
      if let chart {
        try RatioChart(results, caption: caption ?? Machine.caption()).svg
          .write(toFile: chart, atomically: true, encoding: .utf8)
      }
    } catch let error as BenchError {
      note("\(error)")
      throw ExitCode(error.code.rawValue)
    }
  }
}

import ArgumentParser
import Foundation

/// A part of the benchmark: a subcommand whose sections also appear in the table of all parts.
protocol BenchPart: ParsableCommand, Sendable {
  var output: OutputOptions { get }
  var setting: SettingOptions { get }

  /// Measures all operations of the part.
  ///
  /// - Throws: `BenchError` if a candidate fails or gives a wrong answer.
  func measure() async throws -> [Section]
}

extension BenchPart {
  func run() throws { try output.report(isQuick: setting.quick) { try await measure() } }
}

/// The options for where and how thoroughly a part is measured.
struct SettingOptions: ParsableArguments {
  @Flag(help: "A smoke run: few repetitions. Its ratios mean nothing.") var quick = false
  @Option(help: "Where to create the temporary folder (default: the system's).") var dir: String?

  /// - Parameter secondDir: A folder on a second disk, or nil to use only the first.
  /// - Throws: `ValidationError` for a folder that does not exist; the errors of `ScratchFolder`.
  func scratch(needing bytes: Int, secondDir: String? = nil) throws -> ScratchFolder {
    let first = dir ?? FileManager.default.temporaryDirectory.path
    let parents = [first] + (secondDir.map { [$0] } ?? [])
    for parent in parents where !FileManager.default.fileExists(atPath: parent) {
      throw ValidationError("there is no folder \(parent)")
    }
    return try ScratchFolder(in: parents.map { URL(filePath: $0) }, needing: bytes)
  }
}

/// The options for the form of the results.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print JSON instead of a table.") var json = false
  @Option(help: "Also draw the ratios to SQLite as an SVG file.") var chart: String?
  @Option(
    parsing: .upToNextOption,
    help: "Also write the tables into these Markdown files, where comments ask for them.")
  var markdown: [String] = []
  @Option(help: "The line about machine and date (default: those of this run).")
  var caption: String?

  func validate() throws {
    for path in markdown where !FileManager.default.isWritableFile(atPath: path) {
      throw ValidationError("--markdown: there is no file \(path) that can be written")
    }
  }

  /// Runs `measure` and prints its sections.
  ///
  /// - Throws: `ExitCode` for a `BenchError`, after its text was written to standard error.
  func report(
    isQuick: Bool, _ measure: @escaping @Sendable () async throws -> [Section]
  ) throws {
    do {
      let results = Results(sections: try blocking(measure), isQuick: isQuick)
      print(json ? try results.json() : results.table())
      let caption = try (caption ?? Machine.caption()) + (isQuick ? ", a smoke run" : "")
      if let chart {
        try RatioChart(results, caption: caption).svg
          .write(toFile: chart, atomically: true, encoding: .utf8)
      }
      let file = MarkdownFile(results: results, caption: caption)
      for path in markdown { try file.update(path) }
    } catch let error as BenchError {
      reportProgress("\(error)")
      throw ExitCode(error.code.rawValue)
    }
  }
}

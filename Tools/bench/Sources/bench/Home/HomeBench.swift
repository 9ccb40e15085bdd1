import ArgumentParser
import Foundation

/// Measures the process `mooring home` from its start to its end.
struct HomeBench: BenchPart {
  static let configuration = CommandConfiguration(
    commandName: "home",
    abstract: "Measures the process `mooring home` on a warm store, and a program on GRDB.")

  @Option(help: "Episodes in the store.") var rows = 100_000
  @Option(help: "Runs of each program; the median is shown.") var runs = 20
  @Option(help: "The release build of `mooring` (default: in the folder of this program).")
  var mooring: String?
  @OptionGroup var setting: SettingOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (1_000...5_000_000).contains(rows) else {
      throw ValidationError("--rows must be from 1000 to 5000000")
    }
    guard runs > 0 else { throw ValidationError("--runs must be positive") }
  }

  func measure() async throws -> [Section] {
    let (rows, runs) = setting.quick ? (3_000, 3) : (rows, runs)
    let scratch = try setting.scratch(needing: rows * 1_500)
    defer { scratch.remove() }
    let pages = HomePages(
      workload: try Workload(rows: rows, seed: 42), folder: try scratch.emptyFolder("home"))
    let beside = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent()
    let measurement = try await pages.measure(
      runs: runs, mooring: mooring ?? beside.appending(path: "mooring").path,
      peer: beside.appending(path: "grdb-home").path)
    let scope = "\(counted(rows, "episodes")), warm, \(counted(runs, "runs"))"
    return [
      Section(title: "whole process", scope: scope, rows: rows, measurements: [measurement])
    ]
  }
}

extension Operation {
  static let home = Operation("mooring home", "ms")
}

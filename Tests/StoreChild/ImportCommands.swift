import EntityStore
import Foundation
import LegacyImport
import Migrations
import SystemSupport
import TestSupport

/// `import-run STORE FILE MAPPING MIGRATIONS`: imports a legacy file, with a line of output for
/// each step of progress, and at the end what has come of it and the memory that it took.
///
/// - Returns: `false` if the command is not one of them.
func runImportCommand(_ arguments: [String]) throws -> Bool {
  guard arguments.count == 5, arguments[0] == "import-run" else { return false }
  let sources = [MigrationSource.legacyImport, .directory(arguments[4])]
  let store =
    try openInHub(arguments[1], sources)
    ?? openStore(at: arguments[1], migrations: sources, mapSize: 8 << 30, migrate: .never)
  let mapping = try MappingText(
    Array(Data(contentsOf: URL(filePath: arguments[3]))), file: arguments[3])
  let memory = ProcessMemory()
  var options = LegacyFile.Options()
  options.progress = { progress in
    memory.look()
    say("\(progress.stage.rawValue) \(progress.name) \(progress.done)")
  }
  let report = try LegacyFile(arguments[2], options).run(mapping, in: store)
  memory.look()
  say("memory \(memory.growth)")
  say("ended \(report.isBalanced) \(report.run) \(report.rejects.map { "\($0)=\($1)" }.sorted())")
  return true
}

/// The memory that the process itself holds: not the pages of the store, which are the kernel's to
/// keep or to drop.
private final class ProcessMemory: Sendable {
  private let start: Int
  private let highest: Locked<Int>

  init() {
    start = Self.now()
    highest = Locked(start)
  }

  /// In bytes, since the beginning.
  var growth: Int { highest.withLock { $0 } - start }

  func look() {
    let now = Self.now()
    highest.withLock { $0 = max($0, now) }
  }

  private static func now() -> Int {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
      let kilobytes = Int(line.split(separator: " ").dropLast().last ?? "")
    else { return 0 }
    return kilobytes << 10
  }
}

import ArgumentParser
import Console
import EntityModel
import EntityStore
import Foundation
import LegacyImport
import Migrations
import TextFormats

/// Where the files are that `importLegacy` steps take over.
struct LegacyFileOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The SQLite file of the `importLegacy` steps with this source; may be repeated.",
      valueName: "name=file"))
  var legacy: [NamedFile] = []

  struct NamedFile: ExpressibleByArgument {
    let name: String
    let path: String

    init?(argument: String) {
      guard let equals = argument.firstIndex(of: "=") else { return nil }
      name = String(argument[..<equals])
      path = String(argument[argument.index(after: equals)...])
      if name.isEmpty || path.isEmpty { return nil }
    }
  }

  func validate() throws {
    let names = legacy.map(\.name)
    if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
      throw ValidationError("--legacy names the source \(twice) twice; leave one out")
    }
  }

  var words: [String] { legacy.flatMap { ["--legacy", "\($0.name)=\($0.path)"] } }

  /// - Parameter lines: The migrations that may need the files.
  /// - Throws: `CommandError` for a file that is not there, and for a source that no step has: an
  ///   optional step would leave out without a word what was given under a wrong name.
  func importer(for lines: [MigrationLine]) throws -> LegacyImporter {
    let known = Set(lines.flatMap(\.migrations).flatMap(\.legacySources).map(\.source)).sorted()
    for file in legacy {
      guard known.contains(file.name) else {
        let list =
          known.isEmpty
          ? "no migration has a step importLegacy" : "known are " + known.joined(separator: ", ")
        let advice = NearestName.advice(on: file.name, among: known, otherwise: list)
        throw CommandError(.usage, "--legacy: no step has the source \"\(file.name)\"; \(advice)")
      }
      guard FileManager.default.fileExists(atPath: file.path) else {
        throw CommandError(
          .unavailable, "--legacy \(file.name): there is no file \"\(file.path)\"; name another one"
        )
      }
    }
    return .files(Dictionary(uniqueKeysWithValues: legacy.map { ($0.name, $0.path) }))
  }

  /// Sources that migrations cannot go without, and that no file was named for.
  func missing(in migrations: [Migration]) -> [String] {
    let given = Set(legacy.map(\.name))
    return Set(migrations.flatMap(\.legacySources).filter { !$0.isOptional }.map(\.source))
      .subtracting(given).sorted()
  }
}

extension Migration {
  fileprivate var legacySources: [LegacyImportReference] {
    steps.compactMap { if case .importLegacy(let reference) = $0 { reference } else { nil } }
  }
}

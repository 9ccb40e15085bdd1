import ArgumentParser
import Console
import Foundation
import LegacyImport

/// The file that is taken over.
struct LegacyFileArgument: ParsableArguments {
  @Argument(help: ArgumentHelp("The SQLite file.", valueName: "file")) var path: String
  @Flag(help: "Read a damaged or cut file as far as it goes, and name what cannot be read.")
  var damaged = false

  func validate() throws {
    if path.isEmpty { throw ValidationError("name the SQLite file") }
  }

  /// The file and its flag, as they are typed.
  var words: [String] { [path] + (damaged ? ["--damaged"] : []) }
}

/// The mapping that says what becomes of the file.
struct MappingOptions: ParsableArguments {
  @Option(
    name: .customLong("mapping"),
    help: ArgumentHelp("The mapping that `inspect` has written.", valueName: "map.yaml"))
  var path: String

  /// - Throws: `CommandError` for a file that cannot be read, `YAMLError` for what is in it.
  func read() throws -> MappingText {
    try MappingText(try file.bytes(of: path, advice: advice), file: path)
  }

  /// - Throws: `CommandError` for a file that cannot be read or is no text.
  func text() throws -> String { try file.text(of: path, advice: advice) }

  private var file: ConfigurationFile {
    ConfigurationFile("mapping", bytesMax: MappingText.bytesMax)
  }

  private var advice: String { "`mooring import inspect FILE --mapping \(path)` writes one" }
}

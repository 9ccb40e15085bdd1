import ArgumentParser
import Console
import Foundation
import LegacyImport

/// The file that is taken over.
struct LegacyFileArgument: ParsableArguments {
  @Argument(help: ArgumentHelp("The SQLite file.", valueName: "file"), completion: .file())
  var path: String
  @Flag(help: "Read a damaged or cut file as far as it goes, and name what cannot be read.")
  var damaged = false

  @Option(
    help: ArgumentHelp(
      "The number of rows of a damaged file that may be missing. With more, the result is NOT "
        + "BALANCED. Default: 0.", valueName: "rows"))
  var missing: Int64?

  func validate() throws {
    if path.isEmpty { throw ValidationError("name the SQLite file") }
    guard let missing else { return }
    if missing < 0 { throw ValidationError("--missing is a number of rows, 0 or more") }
    if !damaged { throw ValidationError("--missing is for --damaged; add it") }
  }

  /// The file and its options, as they are typed.
  var words: [String] {
    [path] + (damaged ? ["--damaged"] : []) + (missing.map { ["--missing", String($0)] } ?? [])
  }
}

/// The mapping that says what becomes of the file.
struct MappingOptions: ParsableArguments {
  @Option(
    name: .customLong("mapping"),
    help: ArgumentHelp("The mapping that `inspect` has written.", valueName: "map.yaml"),
    completion: .file())
  var path: String

  /// - Throws: `CommandError` for a file that cannot be read, `YAMLError` for what is in it.
  func read() throws -> MappingText { try Self.read(path) }

  /// - Throws: As `read()`.
  static func read(_ path: String) throws -> MappingText {
    try MappingText(try file.bytes(of: path, advice: advice(path)), file: path)
  }

  /// - Throws: `CommandError` for a file that cannot be read or is no text.
  func text() throws -> String { try Self.file.text(of: path, advice: Self.advice(path)) }

  private static let file = ConfigurationFile("mapping", bytesMax: MappingText.bytesMax)

  private static func advice(_ path: String) -> String {
    "`mooring import inspect FILE --mapping \(path)` writes one"
  }
}

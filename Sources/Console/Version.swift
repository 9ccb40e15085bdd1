internal import ArgumentParser
internal import CMooringBuild
internal import EntityStore
internal import TextFormats

/// The version of the commands.
public enum Version {
  public static let text = "0.1.0"

  /// Returns what `--version` prints: the version, and with `--verbose` also what the program was
  /// built from and the libraries that it uses.
  ///
  /// - Parameter libraries: Those besides the store's own, with their versions.
  public static func shown(with libraries: @autoclosure () -> [(String, String)] = []) -> String {
    let arguments = CommandLine.arguments
    guard arguments.contains("--version"), arguments.contains("--verbose") else { return text }
    // SAFETY: the texts are constants.
    let commit = String(cString: mooring_build_commit())
    let swift = String(cString: mooring_build_swift())
    let facts = [
      ("commit", commit.isEmpty ? "unknown" : commit),
      // The version of the standard library has no patch number.
      ("Swift", swift.isEmpty ? "\(_SwiftStdlibVersion.current)" : swift),
    ]
    return ([text] + (facts + Store.libraryVersions + libraries()).map { "\($0): \($1)" })
      .joined(separator: "\n")
  }

  /// Checks the arguments of a program that is asked for its version and for no command: the parser
  /// answers before it looks at the others.
  ///
  /// - Throws: `ValidationError` for an argument that is unknown.
  static func validate(_ arguments: [String]) throws {
    let known = ["--version", "--verbose", "--help", "-h"]
    guard arguments.first?.hasPrefix("-") == true, arguments.contains("--version"),
      let unknown = arguments.first(where: { !known.contains($0) })
    else { return }
    let advice = NearestName.advice(
      on: unknown, among: known, otherwise: "--version goes with --verbose alone")
    throw ValidationError("unknown argument \"\(unknown)\"; \(advice)")
  }
}

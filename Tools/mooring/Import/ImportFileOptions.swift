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
  /// Far more than thousands of columns with their evidence take.
  private static let bytesMax = 16 << 20

  @Option(
    name: .customLong("mapping"),
    help: ArgumentHelp("The mapping that `inspect` has written.", valueName: "map.yaml"))
  var path: String

  /// - Throws: `CommandError` for a file that cannot be read, `YAMLError` for what is in it.
  func read() throws -> MappingText {
    let data = try MappingArgument.read(
      path, bytesMax: Self.bytesMax, limit: "16 MiB",
      advice: "`mooring import inspect FILE --mapping \(path)` writes one")
    return try MappingText(Array(data), file: path)
  }
}

/// A file with a mapping of an import or a feed.
enum MappingArgument {
  /// - Parameter limit: `bytesMax` for people.
  /// - Parameter advice: What to do if there is no such file.
  /// - Throws: `CommandError` for a file that cannot be read, or is too long.
  static func read(_ path: String, bytesMax: Int, limit: String, advice: String) throws -> Data {
    let data: Data
    do {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      defer { file.closeFile() }
      // One byte more than is allowed shows that there is more.
      data = try file.read(upToCount: bytesMax + 1) ?? Data()
    } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
      throw CommandError(.unavailable, "there is no mapping \"\(path)\"; \(advice)")
    } catch {
      throw CommandError(.inputOutput, "the mapping \"\(path)\" cannot be read; is it a file?")
    }
    guard data.count <= bytesMax else {
      throw CommandError(.badData, "the mapping \"\(path)\" is longer than \(limit)")
    }
    return data
  }
}

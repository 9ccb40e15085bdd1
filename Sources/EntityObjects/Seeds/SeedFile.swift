import EntityModel
import EntityStore
import Foundation
import StrictYAML
import SystemSupport

/// A file of seed data.
struct SeedFile {
  /// The largest size in bytes. The content is in memory several times while it is applied.
  private static let bytesMax = 64 << 20

  let path: String

  /// Reads the file.
  ///
  /// - Throws: `seed`, with the place.
  func plan(for schema: Schema, now: Date) throws -> SeedPlan {
    var reader = SeedReader(schema, now: now)
    let format = URL(filePath: path).pathExtension.lowercased()
    do {
      switch format {
      case "json":
        return try reader.plan(try document(SurrogateEscapes.joined(in: try contents())))
      case "yaml", "yml":
        return try reader.plan(try document(try contents()))
      case "plist":
        return try reader.plan(try PropertyListNode.parse(Data(try contents()), file: path))
      default: throw unreadable("its extension is not json, yaml, yml or plist")
      }
    } catch let error as YAMLError {
      throw StoreError.seed(
        at: .line(error.line, column: error.column, file: error.file), error.summary)
    }
  }

  private func document(_ bytes: [UInt8]) throws(YAMLError) -> YAMLNode {
    try YAMLDocument.parse(bytes: bytes, file: path, bytesMax: Self.bytesMax)
  }

  private func contents() throws -> [UInt8] {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try BoundedFile.read(path, bytesMax: Self.bytesMax)
    } catch {
      throw unreadable(error.text)
    }
    guard bytes.count <= Self.bytesMax else {
      throw unreadable("it has more than \(Self.bytesMax) bytes; split it into several seeds")
    }
    return bytes
  }

  private func unreadable(_ problem: String) -> StoreError {
    StoreError(
      .seed, "a seed file cannot be read", [("file", path), ("problem", problem)])
  }
}

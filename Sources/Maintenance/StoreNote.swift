import Foundation
import Glibc
import SystemSupport

/// A small file of facts in a store's folder, in JSON. A fact about the store that its readers may
/// write, too, cannot be a record in it.
enum StoreNote {
  private static let bytesMax = 64 << 10

  /// Returns the content of a note; nil if there is none that this program can read.
  static func read<Content: Decodable>(_ name: String, inStore folder: String) -> Content? {
    guard let descriptor = try? FolderFile.open(folder + "/" + name, .readOnly) else { return nil }
    defer { close(descriptor) }
    guard let bytes = try? BoundedFile.read(descriptor, bytesMax: bytesMax) else { return nil }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return try? decoder.decode(Content.self, from: Data(bytes))
  }

  /// Replaces a note.
  ///
  /// - Returns: False if it could not be written, as by a user who may only read the store.
  static func write(_ content: some Encodable, _ name: String, inStore folder: String) -> Bool {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(content) else { return false }
    do throws(SystemError) {
      try FolderFile.replace(folder + "/" + name, with: Array(data) + Array("\n".utf8))
      return true
    } catch {
      return false
    }
  }
}

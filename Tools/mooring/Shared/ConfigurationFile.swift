import Console
import Glibc
import SystemSupport

/// A file that an option names, such as a mapping or a migration.
struct ConfigurationFile {
  /// The kind of file, in one word for messages.
  private let kind: String
  private let bytesMax: Int

  init(_ kind: String, bytesMax: Int) {
    self.kind = kind
    self.bytesMax = bytesMax
  }

  /// - Parameter path: The file, or `-` for standard input if `takesInput` is true.
  /// - Parameter advice: What to do if there is no such file.
  /// - Throws: `CommandError` for a file that cannot be read, or is too long.
  func bytes(of path: String, takesInput: Bool = false, advice: String) throws -> [UInt8] {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes =
        takesInput && path == "-"
        ? try BoundedFile.read(STDIN_FILENO, bytesMax: bytesMax)
        : try BoundedFile.read(path, bytesMax: bytesMax)
    } catch {
      if error.number == ENOENT || error.number == ENOTDIR {
        throw CommandError(.unavailable, "there is no \(kind) \"\(path)\"; \(advice)")
      }
      throw CommandError(
        error.isPermissionDenied ? .notPermitted : .inputOutput,
        "the \(kind) \"\(path)\" cannot be read: \(error.text); name a readable file")
    }
    guard bytes.count <= bytesMax else {
      throw CommandError(
        .badData,
        "the \(kind) \"\(path)\" is longer than \(Self.text(ofSize: bytesMax)); split it, or name "
          + "another file")
    }
    return bytes
  }

  /// Reads a file of UTF-8 text.
  func text(of path: String, takesInput: Bool = false, advice: String) throws -> String {
    let bytes = try bytes(of: path, takesInput: takesInput, advice: advice)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandError(.badData, "the \(kind) \"\(path)\" is not UTF-8; save it as UTF-8")
    }
    return text
  }

  private static func text(ofSize bytes: Int) -> String {
    bytes >= 1 << 20 ? "\(bytes >> 20) MiB" : "\(bytes >> 10) KiB"
  }
}

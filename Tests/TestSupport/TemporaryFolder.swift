public import Foundation

/// A new folder for one test.
public struct TemporaryFolder: Sendable {
  public let url: URL
  public var path: String { url.path }

  /// Creates the folder with mode 0700.
  public init(named name: String = "mooring-test") throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(name)-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  /// The path of a file or folder in it, which need not exist.
  public func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// Removes the folder with its content. A missing folder is not an error.
  public func remove() {
    do {
      try FileManager.default.removeItem(at: url)
    } catch CocoaError.fileNoSuchFile {
      return
    } catch {
      print("cannot remove \(path): \(error)")
    }
  }
}

/// Runs `body` with a new folder, and removes it at the end.
///
/// - Throws: What `body` throws; `ShadowMismatch` in shadow mode (see `Shadow`).
@discardableResult
public func withTemporaryFolder<R>(_ body: (TemporaryFolder) throws -> R) throws -> R {
  let folder = try TemporaryFolder()
  defer {
    Shadow.forgetStores(in: folder.path)
    folder.remove()
  }
  let result = try body(folder)
  try Shadow.compareStores(in: folder.path)
  return result
}

/// Runs `body` with a new folder, and removes it at the end.
///
/// - Throws: What `body` throws; `ShadowMismatch` in shadow mode (see `Shadow`).
@discardableResult
public func withTemporaryFolder<R>(
  isolation: isolated (any Actor)? = #isolation, _ body: (TemporaryFolder) async throws -> R
) async throws -> R {
  let folder = try TemporaryFolder()
  defer {
    Shadow.forgetStores(in: folder.path)
    folder.remove()
  }
  let result = try await body(folder)
  try Shadow.compareStores(in: folder.path)
  return result
}

import Foundation

/// Folders for the files of the candidates, one on each disk. `remove` deletes them, and so do
/// SIGINT and SIGTERM.
final class ScratchFolder {
  private let urls: [URL]
  private let interrupts: [any DispatchSourceSignal]

  /// Creates a folder in each of `parents`.
  ///
  /// - Throws: `noSpace` if fewer than `bytes` bytes are free in one of them.
  init(in parents: [URL], needing bytes: Int) throws {
    for parent in parents { try Self.requireSpace(in: parent, bytes) }
    let urls = parents.map { $0.appending(path: "mooring-bench-\(UUID().uuidString)") }
    for url in urls {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
    self.urls = urls
    interrupts = [SIGINT, SIGTERM].map { signalNumber in
      signal(signalNumber, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: signalNumber, queue: .global())
      source.setEventHandler {
        // The run continues on another thread with open files: remove what can be removed and exit.
        Self.remove(urls)
        exit(128 + signalNumber)
      }
      source.resume()
      return source
    }
  }

  private static func requireSpace(in parent: URL, _ bytes: Int) throws {
    let attributes = try FileManager.default.attributesOfFileSystem(forPath: parent.path)
    let free = (attributes[.systemFreeSize] as? NSNumber)?.intValue ?? 0
    let sizes = "needs about \(bytes / 1_000_000) MB in \(parent.path), \(free / 1_000_000) MB free"
    reportProgress(sizes)
    guard free > bytes else { throw BenchError(.noSpace, "\(sizes); choose another --dir") }
  }

  /// Returns the URL of a folder inside, which need not exist.
  ///
  /// - Parameter disk: The index of the parent.
  func folder(_ name: String, on disk: Int = 0) -> URL { urls[disk].appending(path: name) }

  /// Creates an empty folder of that name, after removing what was there.
  func emptyFolder(_ name: String, on disk: Int = 0) throws -> URL {
    let folder = folder(name, on: disk)
    if FileManager.default.fileExists(atPath: folder.path) {
      try FileManager.default.removeItem(at: folder)
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  func remove() {
    interrupts.forEach { $0.cancel() }
    Self.remove(urls)
  }

  private static func remove(_ urls: [URL]) {
    for url in urls {
      do { try FileManager.default.removeItem(at: url) } catch {
        reportProgress("could not remove \(url.path): \(error)")
      }
    }
  }
}

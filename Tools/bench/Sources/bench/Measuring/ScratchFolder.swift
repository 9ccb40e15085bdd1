import Foundation

/// A folder for the files of the candidates. `remove` deletes it, and so do SIGINT and SIGTERM.
final class ScratchFolder {
  private let url: URL
  private let interrupts: [any DispatchSourceSignal]

  /// Creates the folder in `parent`.
  ///
  /// - Throws: `noSpace` if fewer than `bytes` bytes are free there.
  init(in parent: URL, needing bytes: Int) throws {
    let attributes = try FileManager.default.attributesOfFileSystem(forPath: parent.path)
    let free = (attributes[.systemFreeSize] as? NSNumber)?.intValue ?? 0
    let sizes = "needs about \(bytes / 1_000_000) MB in \(parent.path), \(free / 1_000_000) MB free"
    reportProgress(sizes)
    guard free > bytes else { throw BenchError(.noSpace, "\(sizes); choose another --dir") }

    let url = parent.appending(path: "mooring-bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    self.url = url
    interrupts = [SIGINT, SIGTERM].map { signalNumber in
      signal(signalNumber, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: signalNumber, queue: .global())
      source.setEventHandler {
        // The run continues on another thread with open files: remove what can be removed and exit.
        do { try FileManager.default.removeItem(at: url) } catch {
          reportProgress("could not remove \(url.path): \(error)")
        }
        exit(128 + signalNumber)
      }
      source.resume()
      return source
    }
  }

  /// Returns the URL of a folder inside, which need not exist.
  func folder(_ name: String) -> URL { url.appending(path: name) }

  /// Creates an empty folder of that name, after removing what was there.
  func emptyFolder(_ name: String) throws -> URL {
    let folder = folder(name)
    if FileManager.default.fileExists(atPath: folder.path) {
      try FileManager.default.removeItem(at: folder)
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  func remove() {
    interrupts.forEach { $0.cancel() }
    do { try FileManager.default.removeItem(at: url) } catch {
      reportProgress("could not remove \(url.path): \(error)")
    }
  }
}

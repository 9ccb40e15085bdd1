import Foundation

/// A folder for the candidates' files that is removed at the end, also on Ctrl-C.
final class ScratchFolder {
  private let url: URL
  private let interrupts: [any DispatchSourceSignal]

  /// Makes the folder in `parent`, or throws `noSpace` when fewer than `bytes` are free there.
  init(in parent: URL, needing bytes: Int) throws {
    let attributes = try FileManager.default.attributesOfFileSystem(forPath: parent.path)
    let free = (attributes[.systemFreeSize] as? NSNumber)?.intValue ?? 0
    let sizes = "needs about \(bytes / 1_000_000) MB in \(parent.path), \(free / 1_000_000) MB free"
    FileHandle.standardError.write(Data("bench: \(sizes)\n".utf8))
    guard free > bytes else { throw BenchError(.noSpace, "\(sizes); choose another --dir") }

    let url = parent.appending(path: "mooring-bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    self.url = url
    interrupts = [SIGINT, SIGTERM].map { signalNumber in
      signal(signalNumber, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: signalNumber, queue: .global())
      source.setEventHandler {
        // The run is on another thread and its files are open: remove what can be and leave.
        do { try FileManager.default.removeItem(at: url) } catch {
          FileHandle.standardError.write(Data("bench: \(url.path) is left: \(error)\n".utf8))
        }
        exit(128 + signalNumber)
      }
      source.resume()
      return source
    }
  }

  func folder(_ name: String) -> URL { url.appending(path: name) }

  /// An empty folder of that name; what was there is removed.
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
      FileHandle.standardError.write(Data("bench: \(url.path) is left: \(error)\n".utf8))
    }
  }
}

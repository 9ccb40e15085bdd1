import EntityModel
import Glibc
import SystemSupport

/// The lock that allows one worker for each store: a kernel lock on the file `worker.lock`, which
/// the kernel releases when its holder dies.
final class WorkerLock: Sendable {
  private let file: FileLock

  /// - Throws: `WorkerError` with the code `busy` and the holder's process id.
  init(ofStore folder: String) throws(WorkerError) {
    let path = folder + "/worker.lock"
    let isTaken: Bool
    do throws(SystemError) {
      file = try FileLock(path)
      isTaken = try file.take(.bytes(from: 0, count: 1))
    } catch {
      throw WorkerError(
        code: .notPermitted, summary: "the lock of the worker cannot be taken",
        context: [("file", path), ("reason", error.text)],
        advice: "see to it that the store's folder can be written")
    }
    guard isTaken else {
      throw WorkerError(
        code: .busy, summary: "another worker serves this store",
        context: [("store", folder)] + (file.lastHolder.map { [("process", $0.pid)] } ?? []),
        advice: "one worker for each store is enough: raise its --concurrency")
    }
    file.setText(Array("\(getpid())\n".utf8))
  }
}

/// The error of a worker that cannot start.
public struct WorkerError: Error, Sendable, CustomStringConvertible {
  public enum Code: Sendable {
    /// Another worker serves the store.
    case busy
    case notPermitted
  }

  public let code: Code
  public let summary: StaticString
  public let context: [(String, String)]
  public let advice: String

  /// The summary, the context and the advice in one line.
  public var description: String { String(errorLine: summary, context, advice: advice) }
}

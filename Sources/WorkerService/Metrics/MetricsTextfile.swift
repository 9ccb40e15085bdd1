import Glibc
public import Logging
public import ServiceLifecycle
import Synchronization

/// Writes the textfile at intervals, and once more at the end.
///
/// The first failure in a row is logged as a warning; the worker goes on.
public final class MetricsTextfile: Service {
  private let metrics: TextfileMetrics
  private let settings: LiveSettings
  private let logger: Logger
  private let hasFailed = Atomic(false)

  /// - Parameter settings: `metricsFile` and `metricsEvery`. A reload is in effect from the next
  ///   write on.
  public init(_ metrics: TextfileMetrics, settings: LiveSettings, logger: Logger) {
    self.metrics = metrics
    self.settings = settings
    self.logger = logger
  }

  public func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        self.write()
        do {
          try await ChoreTimes.pause(every: self.settings.current.metricsEvery)
        } catch {
          break
        }
      }
    }
    write()
  }

  /// Writes the file of the settings, if there is one.
  func write() {
    guard let path = settings.current.metricsFile else { return }
    do {
      try AtomicTextfile.write(metrics.text(), to: path)
      let recovers = hasFailed.exchange(false, ordering: .relaxed)
      if recovers { logger.notice("metrics are written again", metadata: ["file": "\(path)"]) }
    } catch {
      let isFirst = !hasFailed.exchange(true, ordering: .relaxed)
      if isFirst { logger.warning("metrics cannot be written", error: error) }
    }
  }
}

/// Replaces a file atomically: readers see either the old one or the new one.
enum AtomicTextfile {
  struct WriteError: Error, CustomStringConvertible { let description: String }

  /// Writes the file with mode 0644, because the collector is another user. After an error the old
  /// file stays, and no other one.
  static func write(_ text: String, to path: String) throws(WriteError) {
    // The collector reads names that end in .prom only.
    let temporary = "\(path).\(getpid()).tmp"
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC
    let descriptor = open(temporary, flags, 0o600)
    guard descriptor >= 0 else { throw error("open", temporary) }
    do throws(WriteError) {
      try fill(descriptor, Array(text.utf8), temporary)
      guard rename(temporary, path) == 0 else { throw error("rename", path) }
    } catch {
      unlink(temporary)
      throw error
    }
  }

  private static func fill(
    _ descriptor: Int32, _ bytes: [UInt8], _ path: String
  ) throws(WriteError) {
    defer { close(descriptor) }
    // Not subject to the mask of the process.
    guard fchmod(descriptor, 0o644) == 0 else { throw error("chmod", path) }
    var rest = bytes[...]
    while !rest.isEmpty {
      // SAFETY: the pointer and count are those of `rest` and are used only inside the closure.
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw error("write", path)
      }
    }
  }

  private static func error(_ call: String, _ path: String) -> WriteError {
    // SAFETY: strerror returns a NUL-terminated string, which is copied at once.
    WriteError(description: "\(path): \(call): \(String(cString: strerror(errno)))")
  }
}

import CEpisodes
import Foundation
import Synchronization

/// Gives memory back that was freed, so that what comes next is measured alone.
func releaseFreeMemory() { release_free_memory() }

/// Memory of this process that no file stands behind, in bytes. Pages of a mapped file are the
/// system's, to be taken back when others need them.
func ownMemory() throws -> Int { try statusValue("RssAnon") }

/// By how much the process's own memory grew at most while `body` ran, in bytes, by a look every
/// two milliseconds.
func peakOwnMemory(_ body: () async throws -> Void) async throws -> Int {
  releaseFreeMemory()
  let before = try ownMemory()
  let peak = Mutex(before)
  let watcher = LatencyReader {
    let memory = try ownMemory()
    peak.withLock { $0 = max($0, memory) }
    usleep(2_000)
  }
  let result: Result<Void, any Error>
  do { result = .success(try await body()) } catch { result = .failure(error) }
  _ = try watcher.stop()
  try result.get()
  return peak.withLock { $0 } - before
}

/// A figure of this process that the kernel keeps in kilobytes, in bytes.
func statusValue(_ field: String) throws -> Int {
  let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
  let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") }
  guard let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first,
    let value = Int(kilobytes)
  else { throw BenchError(.candidate, "/proc/self/status has no \(field)") }
  return value * 1024
}

func megabytes(_ bytes: Int) -> Double { Double(bytes) / 1e6 }

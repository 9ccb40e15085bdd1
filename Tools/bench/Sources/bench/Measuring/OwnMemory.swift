import CEpisodes
import Foundation
import Synchronization

/// Returns freed heap memory to the system, so that it does not hide later allocations.
func releaseFreeMemory() { release_free_memory() }

/// Returns the resident memory of this process in bytes, without the pages of mapped files: the
/// system can reclaim those at any time.
func ownMemory() throws -> Int { try statusValue("RssAnon") }

/// Returns the largest growth of the process's own memory while `body` runs, in bytes, sampled
/// every two milliseconds.
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

/// Returns a field of `/proc/self/status` that is given in kilobytes, in bytes.
func statusValue(_ field: String) throws -> Int {
  let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
  let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") }
  guard let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first,
    let value = Int(kilobytes)
  else { throw BenchError(.candidate, "/proc/self/status has no \(field)") }
  return value * 1024
}

func megabytes(_ bytes: Int) -> Double { Double(bytes) / 1e6 }

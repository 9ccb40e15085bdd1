import CRawLMDB
import Foundation

/// Gives memory back that was freed, so that what comes next is measured alone.
func releaseFreeMemory() { raw_release_free_memory() }

/// By how much the resident set of this process grew at most while `body` ran, in bytes. Pages of
/// mapped files count as soon as they are touched, so for LMDB this includes page cache.
///
/// It resets the kernel's high-water mark and is therefore for one measurement at a time.
func peakMemoryGrowth(_ body: () async throws -> Void) async throws -> Int {
  raw_release_free_memory()
  try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
  let before = try statusValue("VmRSS")
  try await body()
  return max(0, try statusValue("VmHWM") - before)
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

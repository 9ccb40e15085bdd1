import Foundation

extension Comparison {
  /// Opens a closed store, of whose files nothing is in the page cache, and reads its first page.
  mutating func openCold() async throws {
    var time = Measurement(.coldOpen)
    var memory = Measurement(.openMemory)
    for round in 0..<plan.rounds {
      try await eachStore(.coldOpen, round) { store in
        let folder = scratch.folder(store.name.rawValue)
        try store.close()
        try dropPageCache(of: folder)
        releaseFreeMemory()
        let before = try ownMemory()
        let opening = try await seconds {
          try store.open(in: folder)
          _ = try store.touchEpisodes(.recent, limit: 20)
        }
        time.add(opening * 1000, of: store.name)
        memory.add(megabytes(max(0, try ownMemory() - before)), of: store.name)
      }
    }
    reads += [time, memory]
  }
}

/// Drops what the page cache has of the files in a folder. They must have been flushed, and not be
/// mapped.
private func dropPageCache(of folder: URL) throws {
  let files = try FileManager.default.contentsOfDirectory(
    at: folder, includingPropertiesForKeys: [.isRegularFileKey])
  for file in files
  where try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true {
    let descriptor = open(file.path, O_RDONLY)
    guard descriptor >= 0 else { throw BenchError(.candidate, "cannot open \(file.path)") }
    defer { Glibc.close(descriptor) }
    let code = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
    guard code == 0 else { throw BenchError(.candidate, "cannot drop \(file.path): \(code)") }
  }
}

import Foundation

extension Comparison {
  /// Measures how long it takes to open a store and read its first page when none of its files is
  /// in the page cache.
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
        try store.prepareForManyReads()
      }
    }
    // The next operations expect stores in memory. Without this, a candidate would pay the more,
    // the less it reads ahead.
    try await eachStore(.coldOpen, 0) { store in
      try readThrough(scratch.folder(store.name.rawValue))
    }
    reads += [time, memory]
  }
}

/// Reads the files in a folder into the page cache.
private func readThrough(_ folder: URL) throws {
  for file in try files(in: folder) {
    let handle = try FileHandle(forReadingFrom: file)
    defer { handle.closeFile() }
    while let bytes = try handle.read(upToCount: 1 << 20), !bytes.isEmpty {}
  }
}

/// Removes the files in a folder from the page cache. They must be flushed, and must not be mapped.
private func dropPageCache(of folder: URL) throws {
  for file in try files(in: folder) {
    let descriptor = open(file.path, O_RDONLY)
    guard descriptor >= 0 else { throw BenchError(.candidate, "cannot open \(file.path)") }
    defer { Glibc.close(descriptor) }
    let code = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
    guard code == 0 else { throw BenchError(.candidate, "cannot drop \(file.path): \(code)") }
  }
}

private func files(in folder: URL) throws -> [URL] {
  try FileManager.default.contentsOfDirectory(
    at: folder, includingPropertiesForKeys: [.isRegularFileKey]
  )
  .filter { try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true }
}

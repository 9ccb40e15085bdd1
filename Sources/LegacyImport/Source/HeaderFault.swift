import Glibc

/// A fault in the header of a file, for which SQLite does not open it.
struct SourceFault: Sendable {
  let error: ImportError
  /// The bytes to write over the copy so that it opens nevertheless.
  let patches: [Patch]

  struct Patch: Hashable, Sendable {
    let offset: Int64
    let bytes: [UInt8]
  }

  /// - Throws: ``ImportError``: its own where nothing helps.
  func patch(_ copy: String) throws(ImportError) {
    guard !patches.isEmpty else { throw error }
    let descriptor = open(copy, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw unwritable(copy) }
    defer { close(descriptor) }
    for patch in patches {
      // SAFETY: the bytes outlive the call.
      let written = patch.bytes.withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress, $0.count, Int(patch.offset))
      }
      guard written == patch.bytes.count else { throw unwritable(copy) }
    }
  }

  private func unwritable(_ copy: String) -> ImportError {
    ImportError(
      .unreadable, "the copy cannot be changed",
      [("path", copy), ("system", String(cString: strerror(errno)))])
  }
}

/// Finds the fault in the header of a file for which SQLite does not open it.
struct HeaderFault {
  let source: String
  let bytes: Int64
  let start: [UInt8]
  /// True if a log or a journal repairs the file.
  let recovers: Bool
  let hasLog: Bool

  func find() -> SourceFault? {
    guard bytes > 0 else { return nil }
    guard start.count >= DatabaseHeader.byteCount else {
      return fault(
        .truncated, "the file ends within its header", [("bytes", String(bytes))], patches: [])
    }
    guard let header = DatabaseHeader(start) else {
      return fault(.damaged, "the header of the file has no page size", [], patches: [])
    }
    var patches: [SourceFault.Patch] = []
    var first: (ImportError.Code, StaticString, [(String, String)])?
    if !start.starts(with: DatabaseHeader.magic) {
      patches.append(.init(offset: 0, bytes: DatabaseHeader.magic))
      first = (.damaged, "the first bytes of the file are not those of a SQLite file", [])
    }
    if !start[21..<24].elementsEqual([64, 32, 32]) {
      patches.append(.init(offset: 21, bytes: [64, 32, 32]))
      first = first ?? (.damaged, "the header of the file is damaged", [])
    }
    if header.readVersion > 2 || header.readVersion == 0 {
      patches.append(.init(offset: 18, bytes: hasLog ? [2, 2] : [1, 1]))
      first =
        first ?? (
          .damaged, "the file has a format that is newer than SQLite 3, or its header is damaged",
          [("format", String(header.readVersion))]
        )
    }
    // SQLite looks at the last byte of the four.
    if start[47] > 4, !recovers {
      patches.append(.init(offset: 47, bytes: [4]))
      first = first ?? (.damaged, "the header of the file is damaged", [])
    }
    let pages = (bytes - 1) / Int64(header.pageSize) + 1
    if let stored = header.pageCount, Int64(stored) > pages, !recovers {
      let count = withUnsafeBytes(of: UInt32(clamping: pages).bigEndian) { Array($0) }
      patches.append(.init(offset: 28, bytes: count))
      first =
        first ?? (
          .truncated, "the file is shorter than its header states",
          [
            ("pages", String(stored)), ("pages there", String(pages)),
            ("pages missing", String(Int64(stored) - pages)),
          ]
        )
    }
    return first.map { fault($0.0, $0.1, $0.2, patches: patches) }
  }

  private func fault(
    _ code: ImportError.Code, _ summary: StaticString, _ context: [(String, String)],
    patches: [SourceFault.Patch]
  ) -> SourceFault {
    SourceFault(
      error: ImportError(
        code, summary, [("path", source)] + context,
        advice: patches.isEmpty
          ? "take a backup of it" : "--damaged imports what can still be read"),
      patches: patches)
  }
}

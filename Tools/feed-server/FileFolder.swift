import Glibc

/// A folder whose files are served. Nothing outside of it can be reached: every part of a path is
/// opened from its parent's descriptor, dots are refused and symbolic links are not followed.
struct FileFolder: Sendable {
  /// Larger files are not served: bodies are held in memory.
  static let largestFile = 256 << 20

  private let path: String

  enum Entry {
    case missing
    case folder(names: [String])
    case file(File)
  }

  struct File {
    var bytes: [UInt8]
    var modified: Int
    var name: String

    /// The strong entity tag, computed from the content alone: it stays when a file is written
    /// again.
    var entityTag: String {
      "\"\(String(contentHash(bytes), radix: 16))-\(String(bytes.count, radix: 16))\""
    }

    var lastModified: String { Timestamps.imfFixdate(seconds: modified) }

    var contentType: String {
      let suffix = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
      return feedType(suffix) ?? Self.contentTypes[suffix] ?? "application/octet-stream"
    }

    /// Returns the type of a feed with a general suffix, which its first bytes decide.
    private func feedType(_ suffix: String) -> String? {
      guard suffix == "xml" || suffix == "json" else { return nil }
      let start = String(decoding: bytes.prefix(2_048), as: UTF8.self)
      let marks =
        suffix == "xml"
        ? [
          ("<rss", "application/rss+xml"), ("<feed", "application/atom+xml"),
          ("<rdf:RDF", "application/rdf+xml"),
        ]
        : [
          ("jsonfeed.org/version/", "application/feed+json"),
          (#"jsonfeed.org\/version\/"#, "application/feed+json"),
        ]
      return marks.first { start.contains($0.0) }?.1
    }

    private static let contentTypes = [
      "json": "application/json", "jsonl": "application/jsonl", "xml": "application/xml",
      "rss": "application/rss+xml", "atom": "application/atom+xml",
      "rdf": "application/rdf+xml", "html": "text/html; charset=utf-8",
      "htm": "text/html; charset=utf-8", "txt": "text/plain; charset=utf-8",
      "gz": "application/gzip",
    ]
  }

  /// Nil if `path` is not a folder that can be read.
  init?(path: String) {
    guard Descriptor(opening: path, O_RDONLY | O_DIRECTORY) != nil else { return nil }
    self.path = path
  }

  /// Returns the entry of a path that begins with "/".
  func look(up target: String) -> Entry {
    let parts = target.split(separator: "/").map(String.init)
    guard target.hasPrefix("/"),
      parts.allSatisfy({ !$0.hasPrefix(".") && !$0.utf8.contains(0) }),
      var current = Descriptor(opening: path, O_RDONLY | O_DIRECTORY)
    else { return .missing }
    for part in parts {
      // O_NONBLOCK: a named pipe in the folder must not hold the thread.
      guard let next = Descriptor(opening: part, in: current, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      else { return .missing }
      current = next
    }
    guard let status = current.status else { return .missing }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: return .folder(names: current.names())
    case S_IFREG where status.st_size <= Self.largestFile && !target.hasSuffix("/"):
      guard let bytes = current.contents() else { return .missing }
      return .file(
        File(bytes: bytes, modified: status.st_mtim.tv_sec, name: parts.last ?? ""))
    default: return .missing
    }
  }
}

/// FNV-1a with 64 bits: quick, and nobody forges feeds against a server of test data.
private func contentHash(_ bytes: [UInt8]) -> UInt64 {
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  return hash
}

/// An open file or folder, closed at the end.
private final class Descriptor {
  private let number: Int32

  init?(opening path: String, in folder: Descriptor? = nil, _ flags: Int32) {
    number = openat(folder?.number ?? AT_FDCWD, path, flags | O_CLOEXEC)
    if number < 0 { return nil }
  }

  deinit {
    close(number)
  }

  var status: stat? {
    var status = stat()
    return fstat(number, &status) == 0 ? status : nil
  }

  /// All bytes up to the end; nil if reading fails.
  func contents() -> [UInt8]? {
    var bytes: [UInt8] = []
    let step = 1 << 16
    while true {
      var count = 0
      let chunk = [UInt8](unsafeUninitializedCapacity: step) { buffer, filled in
        // SAFETY: the buffer has room for `step` bytes; `count` of them are written.
        repeat { count = read(number, buffer.baseAddress, step) } while count < 0 && errno == EINTR
        filled = max(0, count)
      }
      guard count >= 0 else { return nil }
      if count == 0 { return bytes }
      bytes += chunk
    }
  }

  /// Names of what may be served, sorted; folders end in "/".
  func names() -> [String] {
    let copy = dup(number)
    guard copy >= 0 else { return [] }
    guard let stream = fdopendir(copy) else {
      close(copy)
      return []
    }
    defer { closedir(stream) }
    rewinddir(stream)
    var names: [String] = []
    while let entry = readdir(stream) {
      // SAFETY: the entry is valid until the next call of readdir; its name is an array of its own
      // size, and the string copies the bytes of it.
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard !name.hasPrefix("."),
        let child = Descriptor(opening: name, in: self, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)?.status
      else { continue }
      switch child.st_mode & S_IFMT {
      case S_IFDIR: names.append(name + "/")
      case S_IFREG: names.append(name)
      default: continue
      }
    }
    return names.sorted()
  }
}

import Foundation

/// The items of a file, as text and with their lines, read as they are asked for.
///
/// It is JSON if it begins with `{` or `[`, and CSV otherwise.
public struct BatchFile: AsyncSequence, Sendable {
  public typealias Element = BatchFileItem

  private let path: String
  /// For messages.
  private let name: String

  /// - Parameter path: `-` for standard input.
  /// - Throws: `BatchFileError` for a file that is not there.
  public init(_ path: String) throws {
    self.path = path
    name = path == "-" ? "standard input" : path
    guard path != "-" else { return }
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw BatchFileError(.missing, "there is no file \"\(path)\"")
    }
    guard !isFolder.boolValue, FileManager.default.isReadableFile(atPath: path) else {
      throw BatchFileError(.unreadable, "the file \"\(path)\" cannot be read")
    }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(BatchBytes(path: path, name: name)) }

  public struct Iterator: AsyncIteratorProtocol {
    private let bytes: BatchBytes
    private var splitter: Splitter?

    private enum Splitter {
      case json(BatchJSONSplitter)
      case csv(BatchCSVSplitter)
    }

    fileprivate init(_ bytes: BatchBytes) { self.bytes = bytes }

    /// - Throws: `BatchFileError` with file and line; `CancellationError`.
    public mutating func next() async throws -> BatchFileItem? { try nextItem() }

    /// As `next`; blocks until the file is read so far.
    mutating func nextItem() throws -> BatchFileItem? {
      switch try splitter ?? begin() {
      case .json(var json):
        let item = try json.next(bytes)
        splitter = .json(json)
        return item
      case .csv(var csv):
        let item = try csv.next(bytes)
        splitter = .csv(csv)
        return item
      }
    }

    private func begin() throws -> Splitter {
      try bytes.skipMark()
      let first = try bytes.peekBeyondSpace()
      if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
        return .json(BatchJSONSplitter())
      }
      return .csv(BatchCSVSplitter())
    }
  }
}

/// One item of a file, not yet read as values.
public struct BatchFileItem: Sendable {
  enum Content: Sendable {
    /// The text of one JSON value.
    case json([UInt8])
    /// Fields under the names of the header.
    case fields(names: [String], [BatchField])
    /// What is wrong with it.
    case malformed(String)
  }

  let content: Content
  /// `file:line`.
  let place: String
}

/// A field of CSV.
struct BatchField: Sendable {
  var text: String
  /// An empty field without quotes is no value, one with quotes the empty text.
  var isQuoted = false
}

/// The bytes of a file, one after the other, with the line they are in.
final class BatchBytes {
  /// One item; a record may be no larger.
  static let itemBytesMax = 16 << 20
  private static let bufferBytes = 64 << 10

  private let path: String
  private let name: String
  private var file: FileHandle?
  private var buffer: [UInt8] = []
  private var position = 0
  private(set) var line = 1

  init(path: String, name: String) {
    self.path = path
    self.name = name
  }

  func place(ofLine line: Int) -> String { "\(name):\(line)" }

  /// The next byte, taken.
  func next() throws -> UInt8? {
    guard let byte = try peek() else { return nil }
    position += 1
    if byte == UInt8(ascii: "\n") { line += 1 }
    return byte
  }

  func peek() throws -> UInt8? {
    if position == buffer.count { try fill() }
    return position < buffer.count ? buffer[position] : nil
  }

  /// The next byte that is no white space, not taken.
  func peekBeyondSpace() throws -> UInt8? {
    while let byte = try peek() {
      guard [0x20, 0x09, 0x0A, 0x0D].contains(byte) else { return byte }
      _ = try next()
    }
    return nil
  }

  /// Passes over a byte order mark.
  func skipMark() throws {
    if try peek() != nil, buffer.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// - Throws: `BatchFileError` if an item has become too long.
  func requireRoom(for count: Int, fromLine line: Int) throws {
    guard count > Self.itemBytesMax else { return }
    throw BatchFileError(
      .malformed, "\(place(ofLine: line)): an item is longer than 16 MiB; no record can hold it")
  }

  private func fill() throws {
    let file = try openFile()
    // FileHandle would wait until all of the buffer has come.
    var bytes = [UInt8](repeating: 0, count: Self.bufferBytes)
    var count: Int
    repeat {
      try waitForInput(file.fileDescriptor)
      // SAFETY: the pointer and count are those of `bytes` and are used only inside the closure.
      count = bytes.withUnsafeMutableBytes { read(file.fileDescriptor, $0.baseAddress, $0.count) }
      // Another reader of a pipe may have taken what was there.
    } while count < 0 && (errno == EAGAIN || errno == EINTR)
    guard count >= 0 else { throw unreadable(errno) }
    buffer = Array(bytes.prefix(count))
    position = 0
  }

  private func openFile() throws -> FileHandle {
    if let file { return file }
    let opened: FileHandle
    if path == "-" {
      opened = .standardInput
    } else {
      // To open a pipe would otherwise wait for its writer, whatever Ctrl-C says.
      let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { throw unreadable(errno) }
      opened = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
    file = opened
    return opened
  }

  private func unreadable(_ systemError: Int32) -> BatchFileError {
    // SAFETY: strerror returns a NUL-terminated string, which is copied at once.
    let reason = String(cString: strerror(systemError))
    return BatchFileError(.unreadable, "\(name) cannot be read: \(reason)")
  }

  /// Waits in short steps, so that Ctrl-C ends a batch that waits for input.
  private func waitForInput(_ descriptor: Int32) throws {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    repeat { try Task.checkCancellation() } while poll(&request, 1, 100) < 1
  }
}

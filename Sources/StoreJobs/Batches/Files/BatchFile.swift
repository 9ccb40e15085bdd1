import Foundation

/// The items of a file, as text with their lines. They are read during the iteration.
///
/// It is JSON if it begins with `{` or `[`, and CSV otherwise.
public struct BatchFile: AsyncSequence, Sendable {
  public typealias Element = BatchFileItem

  private let path: String
  /// The name for messages.
  private let name: String

  /// - Parameter path: `-` for standard input.
  /// - Throws: `BatchFileError` for a file that does not exist or cannot be read.
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

    /// Returns the same as `next`, but blocks while it reads the file.
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
    /// The problem of an item that cannot be read.
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

/// Reads a file byte by byte and counts lines.
final class BatchBytes {
  /// The size of one item; a record cannot be larger.
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

  /// Returns the next byte and moves past it.
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

  /// Skips white space and returns the next byte without moving past it.
  func peekBeyondSpace() throws -> UInt8? {
    while let byte = try peek() {
      guard [0x20, 0x09, 0x0A, 0x0D].contains(byte) else { return byte }
      _ = try next()
    }
    return nil
  }

  /// Skips a byte order mark.
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
    // FileHandle would wait until the whole buffer is filled.
    var bytes = [UInt8](repeating: 0, count: Self.bufferBytes)
    var count: Int
    repeat {
      try waitForInput(file.fileDescriptor)
      // SAFETY: the pointer and count are those of `bytes` and are used only inside the closure.
      count = bytes.withUnsafeMutableBytes { read(file.fileDescriptor, $0.baseAddress, $0.count) }
      // Another reader of a pipe may have taken the bytes.
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
      // Otherwise opening a pipe would wait for its writer and could not be interrupted.
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

  /// Waits for input in short steps, so that a cancellation ends the wait.
  private func waitForInput(_ descriptor: Int32) throws {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    repeat { try Task.checkCancellation() } while poll(&request, 1, 100) < 1
  }
}

/// The error of a file of items, or of an item, that cannot be read.
public struct BatchFileError: Error, Sendable, CustomStringConvertible {
  /// The kind of an error.
  public enum Code: Sendable {
    case missing
    case unreadable
    /// The text is malformed, or does not fit the entity.
    case malformed
  }

  public let code: Code
  /// One line: the problem, and the remedy.
  public let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}

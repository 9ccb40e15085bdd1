import Foundation

/// One action of a process on the recorded folder. Paths are relative to it.
enum RecordedEvent: Sendable {
  case createdFile(path: String, inode: UInt64)
  case createdFolder(path: String, inode: UInt64)
  case removed(path: String)
  /// A path outside of the folder is empty.
  case renamed(path: String, to: String)
  case linked(path: String, to: String)
  case wrote(inode: UInt64, offset: Int, bytes: ArraySlice<UInt8>)
  case truncated(inode: UInt64, size: Int)
  /// All of a file, or the names in a folder.
  case flushed(inode: UInt64)
  case flushedRange(inode: UInt64, Range<Int>)
  /// Bytes on standard output.
  case output(process: UInt32, bytes: ArraySlice<UInt8>)

  fileprivate var isFlush: Bool {
    switch self {
    case .flushed, .flushedRange: true
    default: false
    }
  }

  fileprivate var changesNames: Bool {
    switch self {
    case .createdFile, .createdFolder, .removed, .renamed, .linked: true
    default: false
    }
  }

  fileprivate var isOutput: Bool {
    if case .output = self { true } else { false }
  }
}

/// The actions of all processes of a test, in order: the log of `record_shim.c`.
struct Recording: Sendable {
  struct Unreadable: Error, CustomStringConvertible { let description: String }

  let events: [RecordedEvent]
  /// The numbers of events at which a loss of power is of interest: before a flush, and after a
  /// flush, a change of names, or output.
  let turningPoints: [[Int]]

  /// The same without any flush: a disk that ignores them.
  var withoutFlushes: Recording { Recording(events.filter { !$0.isFlush }) }

  private init(_ events: [RecordedEvent]) {
    self.events = events
    let flushes = events.indices.filter { events[$0].isFlush }
    let names = events.indices.filter { events[$0].changesNames }
    let outputs = events.indices.filter { events[$0].isOutput }
    turningPoints = ([flushes] + [flushes, names, outputs].map { $0.map { $0 + 1 } })
      .filter { !$0.isEmpty }
  }

  init(of log: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: log)))
    guard bytes.count >= Self.headBytes, bytes[..<8].elementsEqual("MOORREC1".utf8) else {
      throw Unreadable(description: "\(log) is no recording")
    }
    let end = Self.headBytes + Int(Self.number(in: bytes, at: 8) as UInt64)
    var events: [RecordedEvent] = []
    var offset = Self.headBytes
    while offset < end {
      let data = offset + Self.eventBytes
      let count = Int(Self.number(in: bytes, at: offset + 24) as UInt64)
      guard data + count <= end else {
        throw Unreadable(description: "an event of \(log) is cut at \(offset)")
      }
      events.append(try Self.event(at: offset, data: bytes[data..<data + count], in: bytes))
      offset = data + count
    }
    self.init(events)
  }

  /// The sizes of `log_head`'s page and of `event`.
  private static let headBytes = 4_096
  private static let eventBytes = 32

  private static func event(
    at offset: Int, data: ArraySlice<UInt8>, in bytes: [UInt8]
  ) throws -> RecordedEvent {
    let kind: UInt32 = number(in: bytes, at: offset)
    let inode: UInt64 = number(in: bytes, at: offset + 8)
    let place = Int(number(in: bytes, at: offset + 16) as Int64)
    func path() -> String { String(decoding: data, as: UTF8.self) }
    func paths() -> (String, String) {
      let parts = data.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
      return (parts[0], parts.count > 1 ? parts[1] : "")
    }
    switch kind {
    case 1: return .createdFile(path: path(), inode: inode)
    case 2: return .createdFolder(path: path(), inode: inode)
    case 3: return .removed(path: path())
    case 4: return .renamed(path: paths().0, to: paths().1)
    case 5: return .linked(path: paths().0, to: paths().1)
    case 6: return .wrote(inode: inode, offset: place, bytes: data)
    case 7: return .truncated(inode: inode, size: place)
    case 8: return .flushed(inode: inode)
    case 9:
      let count = Int(number(in: bytes, at: data.startIndex) as UInt64)
      return .flushedRange(inode: inode, place..<place + count)
    case 10: return .output(process: number(in: bytes, at: offset + 4), bytes: data)
    default: throw Unreadable(description: "an event of the unknown kind \(kind)")
    }
  }

  private static func number<N: FixedWidthInteger>(in bytes: [UInt8], at offset: Int) -> N {
    bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: N.self) }
  }
}

/// Reads a `-wal` as SQLite's recovery does, and reports what it finds. SQLite uses the valid part
/// and ignores the rest silently.
///
/// All numbers are big-endian. The checksums add up over header and frames, as words in the byte
/// order that the magic names.
///
/// | bytes | of the header                          | bytes | of each frame, before its page      |
/// |-------|----------------------------------------|-------|-------------------------------------|
/// | 0–3   | magic 377f0682 little, …83 big-endian  | 0–3   | page                                |
/// | 4–7   | version 3007000                        | 4–7   | pages after a commit, else zero     |
/// | 8–11  | page size                              | 8–15  | salts of the header                 |
/// | 12–15 | checkpoint                             | 16–23 | checksums up to here                |
/// | 16–23 | salts                                  |       |                                     |
/// | 24–31 | checksums of 0–23                      |       |                                     |
struct WriteAheadLog {
  /// The reason why the frames end.
  enum End: Equatable {
    /// The file ends.
    case file
    /// The file ends within a frame.
    case torn
    /// The next frames are from before the last checkpoint: nothing is missing.
    case olderFrames
    /// A frame has the salts but not the checksum.
    case badChecksum
    /// The header is incomplete, or its magic, version, page size or checksum is wrong: no frame is
    /// read.
    case badHeader
  }

  private(set) var pageSize: Int?
  private(set) var frames = 0
  private(set) var validFrames = 0
  private(set) var committedFrames = 0
  private(set) var pages: UInt32?
  private(set) var end = End.file
  /// The number of frames after the last valid one that have the salts of the header: these are
  /// lost.
  private(set) var lostFrames = 0
  /// The headers of the database in the committed frames of page 1: the first and the last.
  private(set) var headers: (first: DatabaseHeader, last: DatabaseHeader)?

  /// Reads the file once, with the memory of one page.
  init(_ file: borrowing SourceFile) throws(ImportError) {
    let byteCount = try file.byteCount()
    guard byteCount > 0 else { return }
    guard let header = Header(try file.bytes(at: 0, count: Header.byteCount)) else {
      end = .badHeader
      return
    }
    pageSize = header.pageSize
    let frameBytes = Int64(Self.frameHeaderBytes + header.pageSize)
    let content = byteCount - Int64(Header.byteCount)
    frames = Int((content + frameBytes - 1) / frameBytes)
    var checksum = header.checksum
    var seen: (first: DatabaseHeader, last: DatabaseHeader)?
    for number in 0..<frames {
      let frame = try file.bytes(
        at: Int64(Header.byteCount) + Int64(number) * frameBytes, count: Int(frameBytes))
      guard Int64(frame.count) == frameBytes else {
        if end == .file { end = .torn }
        break
      }
      guard frame[8..<16].elementsEqual(header.salts) else {
        if end == .file { end = .olderFrames }
        break
      }
      guard end == .file else {
        lostFrames += 1
        continue
      }
      checksum.add(frame[0..<8])
      checksum.add(frame[Self.frameHeaderBytes...])
      let page = frame.bigEndian32(at: 0)
      guard page > 0, frame.bigEndian32(at: 16) == checksum.first,
        frame.bigEndian32(at: 20) == checksum.second
      else {
        end = .badChecksum
        lostFrames += 1
        continue
      }
      validFrames += 1
      if page == 1, let found = DatabaseHeader(Array(frame.dropFirst(Self.frameHeaderBytes))) {
        seen = (seen?.first ?? found, found)
      }
      let commit = frame.bigEndian32(at: 4)
      if commit > 0 {
        committedFrames = validFrames
        pages = commit
        headers = seen
      }
    }
  }

  private static let frameHeaderBytes = 24

  private struct Header {
    static let byteCount = 32

    let pageSize: Int
    let salts: [UInt8]
    let checksum: Checksum

    init?(_ bytes: [UInt8]) {
      guard bytes.count == Self.byteCount, bytes.bigEndian32(at: 0) & ~1 == 0x377f_0682,
        bytes.bigEndian32(at: 4) == 3_007_000
      else { return nil }
      pageSize = Int(bytes.bigEndian32(at: 8))
      guard pageSize >= 512, pageSize <= 65_536, pageSize & (pageSize - 1) == 0 else { return nil }
      salts = Array(bytes[16..<24])
      var sum = Checksum(isBigEndian: bytes[3] & 1 == 1)
      sum.add(bytes[0..<24])
      guard sum.first == bytes.bigEndian32(at: 24), sum.second == bytes.bigEndian32(at: 28) else {
        return nil
      }
      checksum = sum
    }
  }

  /// SQLite's running checksum of the words of a log.
  struct Checksum {
    let isBigEndian: Bool
    var first: UInt32 = 0
    var second: UInt32 = 0

    /// - Parameter bytes: A multiple of eight.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
      let isSwapped = isBigEndian != (1.bigEndian == 1)
      // SAFETY: each load is of four bytes before the end, and asks for no alignment.
      bytes.withUnsafeBytes { words in
        for place in stride(from: 0, to: words.count & ~7, by: 8) {
          let left = words.loadUnaligned(fromByteOffset: place, as: UInt32.self)
          let right = words.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
          first = first &+ (isSwapped ? left.byteSwapped : left) &+ second
          second = second &+ (isSwapped ? right.byteSwapped : right) &+ first
        }
      }
    }
  }
}

extension WriteAheadLog {
  /// Returns true if the frames were written to the file with this header, as far as the log shows:
  /// the change counter increases by at most one from the file to the first frame of page 1,
  /// checkpointed frames come from the log, and the schema cookie never decreases.
  func fits(_ main: DatabaseHeader) -> Bool {
    guard committedFrames > 0 else { return true }
    guard pageSize == main.pageSize else { return false }
    guard let headers else { return true }
    return main.changeCounter >= headers.first.changeCounter &- 1
      && main.changeCounter <= headers.last.changeCounter
      && main.schemaCookie <= headers.last.schemaCookie
      && headers.last.textEncoding == main.textEncoding
  }
}

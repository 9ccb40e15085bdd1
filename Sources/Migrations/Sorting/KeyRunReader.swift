import EntityStore
import Glibc

/// Reads the keys of one run in order, a block at a time.
///
/// For any contents of the file it either throws or returns ascending keys: the bytes of a block
/// are not used before its hash was checked.
struct KeyRunReader: ~Copyable {
  private let file: ScratchFile
  private let run: KeyRun
  private let ownerHash: Int64
  /// A block, followed by the current key.
  private let block: UnsafeMutableRawPointer
  private let bytes: UnsafeMutableRawPointer
  private var count = 0
  /// The offset of the next entry in the block, and the end of the entries.
  private var position = 0
  private var end = 0
  /// The number of the block that is read next, and the hash of the one before it, if that was
  /// read.
  private var nextBlock = 0
  private var previousHash: Int64?

  /// True if all keys have been read. It is false before the first `advance`.
  private(set) var isAtEnd = false

  /// Opens the run, positioned before its first key.
  ///
  /// - Throws: `damaged` if the file is missing or does not match the description.
  init(_ run: KeyRun, of owner: String, in folder: KeyRunFolder) throws(StoreError) {
    let file = try ScratchFile(reading: folder.file(owner: owner, number: run.number))
    let ownerHash = ContentHash.of(owner)
    try KeyRunReader.checkHeader(of: file, against: run, ownerHash)
    self.run = run
    self.ownerHash = ownerHash
    self.file = file
    let room = KeyRunFormat.blockBytes + StoreLimits.keyBytesMax
    block = .allocate(byteCount: room, alignment: MemoryLayout<UInt64>.alignment)
    bytes = block + KeyRunFormat.blockBytes
    previousHash = ownerHash
  }

  deinit { block.deallocate() }

  // SAFETY (whole type): `position` and `end` stay within the block, which `readBlock` and
  // `readCount` ensure, and `count` within the room of a key, which `readEntry` ensures.

  /// The current key, valid until the next `advance`; undefined before the first and at the end.
  var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: count) }

  @inline(__always)
  mutating func advance() throws(StoreError) {
    if position == end {
      guard nextBlock < blockCount else {
        isAtEnd = true
        return
      }
      try readBlock()
      return try readEntry(isFirst: true)
    }
    try readEntry(isFirst: false)
  }

  /// Moves to the first key that is greater than this one.
  ///
  /// - Complexity: O(log blocks) reads of a block, and a scan of one block.
  mutating func seek(after sought: [UInt8]) throws(StoreError) {
    // The last block that begins at or before the key.
    var low = 0
    var high = blockCount
    while high - low > 1 {
      let middle = (low + high) / 2
      try startAt(block: middle)
      if isAfter(sought) { high = middle } else { low = middle }
    }
    try startAt(block: low)
    while !isAtEnd, !isAfter(sought) { try advance() }
  }

  private func isAfter(_ sought: [UInt8]) -> Bool {
    sought.withUnsafeBytes { compare(key, $0) > 0 }
  }

  /// Reads the whole file and checks its blocks, without reading the keys.
  mutating func checkBlocks() throws(StoreError) {
    while nextBlock < blockCount { try readBlock() }
  }

  private var blockCount: Int {
    (run.bytes - KeyRunFormat.headerBytes + KeyRunFormat.blockBytes - 1) / KeyRunFormat.blockBytes
  }

  private static func checkHeader(
    of file: borrowing ScratchFile, against run: KeyRun, _ ownerHash: Int64
  ) throws(StoreError) {
    guard try file.byteCount() == run.bytes, run.bytes >= KeyRunFormat.headerBytes else {
      throw .damagedRun(file.path, "it has another size")
    }
    let header = UnsafeMutableRawBufferPointer.allocate(
      byteCount: KeyRunFormat.headerBytes, alignment: 1)
    defer { header.deallocate() }
    try file.read(into: header, at: 0)
    guard header.elementsEqual(KeyRunFormat.header(of: run, owner: ownerHash)) else {
      throw .damagedRun(file.path, "its header is not the one written")
    }
  }

  private mutating func startAt(block number: Int) throws(StoreError) {
    nextBlock = number
    previousHash = number == 0 ? ownerHash : nil
    count = 0
    position = end
    try advance()
  }

  private mutating func readBlock() throws(StoreError) {
    let offset = KeyRunFormat.headerBytes + nextBlock * KeyRunFormat.blockBytes
    let size = min(KeyRunFormat.blockBytes, run.bytes - offset)
    guard size > KeyRunFormat.blockHeaderBytes else { throw damaged }
    let whole = UnsafeMutableRawBufferPointer(start: block, count: size)
    try file.read(into: whole, at: offset)
    let hash = Int64(littleEndian: whole.load(as: Int64.self))
    let before = Int64(
      littleEndian: whole.load(fromByteOffset: KeyRunFormat.previousOffset, as: Int64.self))
    let entries = UInt32(
      littleEndian: whole.load(fromByteOffset: KeyRunFormat.entriesCountOffset, as: UInt32.self))
    nextBlock += 1
    guard hash == KeyRunFormat.hash(ofBlock: UnsafeRawBufferPointer(whole)),
      previousHash == nil || previousHash == before,
      nextBlock < blockCount || hash == run.checksum,
      entries > 0, Int(entries) <= size - KeyRunFormat.blockHeaderBytes
    else { throw damaged }
    previousHash = hash
    position = KeyRunFormat.blockHeaderBytes
    end = position + Int(entries)
  }

  @inline(__always)
  private mutating func readEntry(isFirst: Bool) throws(StoreError) {
    let shared = try readCount()
    let differing = try readCount()
    guard differing > 0, differing <= end - position, shared <= count,
      shared + differing <= StoreLimits.keyBytesMax
    else { throw damaged }
    let rest = UnsafeRawBufferPointer(start: block + position, count: differing)
    let ascends =
      isFirst ? shared == 0 && compare(rest, key) > 0 : shared == count || rest[0] > key[shared]
    guard ascends else { throw damaged }
    UnsafeMutableRawBufferPointer(start: bytes + shared, count: differing).copyMemory(from: rest)
    count = shared + differing
    position += differing
  }

  @inline(__always)
  private mutating func readCount() throws(StoreError) -> Int {
    guard position < end else { throw damaged }
    let low = Int(block.load(fromByteOffset: position, as: UInt8.self))
    position += 1
    if low < 0x80 { return low }
    guard position < end else { throw damaged }
    let high = Int(block.load(fromByteOffset: position, as: UInt8.self))
    position += 1
    return low & 0x7F | high << 7
  }

  private var damaged: StoreError {
    .damagedRun(file.path, "a block of it is not what was written")
  }
}

import EntityStore
import Glibc
import SystemSupport

/// A run that is being written, under another name until it is complete.
///
/// If the value is destroyed before `finish`, the file is removed.
struct KeyRunFile: ~Copyable {
  private let owner: String
  private let number: Int
  private let path: String
  private let file: ScratchFile
  /// A block, followed by the key that was added last.
  private let block: UnsafeMutableRawPointer
  private let last: UnsafeMutableRawPointer
  private var lastCount = 0
  /// The offset in the block at which the next entry begins.
  private var position = KeyRunFormat.blockHeaderBytes
  private var previousHash: Int64
  private var keys = 0
  private var bytes = KeyRunFormat.headerBytes
  private var isComplete = false

  init(folder: KeyRunFolder, owner: String, number: Int) throws(StoreError) {
    self.owner = owner
    self.number = number
    path = folder.file(owner: owner, number: number)
    file = try ScratchFile(creating: KeyRunFolder.unfinished(path))
    previousHash = ContentHash.of(owner)
    let room = KeyRunFormat.blockBytes + StoreLimits.keyBytesMax
    block = .allocate(byteCount: room, alignment: MemoryLayout<UInt64>.alignment)
    last = block + KeyRunFormat.blockBytes
  }

  deinit {
    block.deallocate()
    // A file that cannot be removed here is found by `KeyRunFolder.removeLeftovers`.
    if !isComplete { unlink(KeyRunFolder.unfinished(path)) }
  }

  // SAFETY (`append`, `push`): a block that has no room for the largest entry is written first, and
  // `last` has room for the longest key. The callers pass no longer one.

  /// Adds a key that sorts after the last one; a key equal to the last one is left out.
  ///
  /// - Parameter key: 1 to `StoreLimits.keyBytesMax` bytes.
  mutating func append(_ key: UnsafeRawBufferPointer) throws(StoreError) {
    var shared = sharedCount(key)
    if shared == key.count, shared == lastCount { return }
    if position + KeyRunFormat.entryBytesMax > KeyRunFormat.blockBytes {
      try writeBlock(count: KeyRunFormat.blockBytes)
    }
    if position == KeyRunFormat.blockHeaderBytes { shared = 0 }
    push(shared)
    push(key.count - shared)
    let rest = UnsafeRawBufferPointer(rebasing: key[shared...])
    UnsafeMutableRawBufferPointer(start: block + position, count: rest.count).copyMemory(from: rest)
    position += rest.count
    UnsafeMutableRawBufferPointer(start: last + shared, count: rest.count).copyMemory(from: rest)
    lastCount = key.count
    keys += 1
  }

  /// Makes the run durable and gives it its name, which is durable when the folder is flushed.
  consuming func finish() throws(StoreError) -> KeyRun {
    if position > KeyRunFormat.blockHeaderBytes { try writeBlock(count: position) }
    let run = KeyRun(number: number, keys: keys, bytes: bytes, checksum: previousHash)
    let header = UnsafeMutableRawBufferPointer(start: block, count: KeyRunFormat.headerBytes)
    header.copyBytes(from: KeyRunFormat.header(of: run, owner: ContentHash.of(owner)))
    try file.write(UnsafeRawBufferPointer(header), at: 0)
    try file.flush()
    guard rename(KeyRunFolder.unfinished(path), path) == 0 else {
      throw .scratch(SystemError(), "a scratch file cannot be renamed", path: path)
    }
    isComplete = true
    return run
  }

  /// Returns the number of bytes that the key has in common with the one before it.
  @inline(__always)
  private func sharedCount(_ key: UnsafeRawBufferPointer) -> Int {
    let most = min(key.count, lastCount)
    var count = 0
    while count + 8 <= most {
      let difference =
        key.loadUnaligned(fromByteOffset: count, as: UInt64.self)
        ^ last.loadUnaligned(fromByteOffset: count, as: UInt64.self)
      // In little-endian order, the first byte that differs has the lowest bit that is set.
      if difference != 0 { return count + difference.littleEndian.trailingZeroBitCount / 8 }
      count += 8
    }
    while count < most, key[count] == last.load(fromByteOffset: count, as: UInt8.self) {
      count += 1
    }
    return count
  }

  @inline(__always)
  private mutating func push(_ count: Int) {
    if count < 0x80 {
      block.storeBytes(of: UInt8(truncatingIfNeeded: count), toByteOffset: position, as: UInt8.self)
      position += 1
    } else {
      let low = UInt8(truncatingIfNeeded: count) | 0x80
      block.storeBytes(of: low, toByteOffset: position, as: UInt8.self)
      let high = UInt8(truncatingIfNeeded: count >> 7)
      block.storeBytes(of: high, toByteOffset: position + 1, as: UInt8.self)
      position += 2
    }
  }

  private mutating func writeBlock(count: Int) throws(StoreError) {
    let whole = UnsafeMutableRawBufferPointer(start: block, count: count)
    memset(block + position, 0, count - position)
    let entries = UInt32(position - KeyRunFormat.blockHeaderBytes)
    whole.storeBytes(
      of: previousHash.littleEndian, toByteOffset: KeyRunFormat.previousOffset, as: Int64.self)
    whole.storeBytes(
      of: entries.littleEndian, toByteOffset: KeyRunFormat.entriesCountOffset, as: UInt32.self)
    previousHash = KeyRunFormat.hash(ofBlock: UnsafeRawBufferPointer(whole))
    whole.storeBytes(of: previousHash.littleEndian, as: Int64.self)
    try file.write(UnsafeRawBufferPointer(whole), at: bytes)
    bytes += count
    position = KeyRunFormat.blockHeaderBytes
  }
}

import CMooringXXHash
public import SystemSupport

/// The order of the commits of a store that several machines share.
///
/// The store of each machine is the result of the same entries in the same order. An entry holds
/// the tree operations of one commit (see `TreeOperation`) and comes in parts, so that neither a
/// writer nor a reader needs the memory of a large commit.
///
/// Threads: every method may be called from any thread.
public protocol CommitLog: Sendable {
  /// The identity of the log, which its stores remember.
  var hub: UInt128 { get }
  /// The name of this machine among those that write to the log.
  var machineName: String { get }

  /// Waits until no other machine and no other process writes, and takes the turn.
  ///
  /// - Throws: `StorageError` with `.busy` after the limit; `.unreachable`; `.diverged` if the log
  ///   has no entry with the number and the chain of the position.
  func beginTurn(after position: LogPosition, within limit: Duration) throws -> any LogTurn

  /// Returns the entries after a position, without a turn: those of now, and maybe some that are
  /// appended while they are read.
  ///
  /// - Throws: The errors of `beginTurn` except `.busy`.
  func tail(after position: LogPosition) throws -> any LogTail
}

/// The entries of a log after a position, oldest first.
public protocol LogTail: AnyObject {
  /// Returns the next part; `nil` after the last part of the last entry.
  ///
  /// - Throws: `StorageError` with `.unreachable`.
  func nextPart() throws -> LogPart?
}

/// The right to append one entry, and the entries that the machine lacks. No other machine appends
/// before the turn ends. One thread at a time uses it.
public protocol LogTurn: LogTail {
  /// The time of the turn by the clock of the log, in seconds since 2001, never less than that of
  /// an earlier turn.
  var time: Double { get }
  /// The position after the newest entry.
  var head: LogPosition { get }

  /// Appends a part to the new entry.
  func write(_ part: UnsafeRawBufferPointer) throws

  /// Removes the parts of the new entry after the first `count`.
  func takeBack(toPart count: Int) throws

  /// Makes the new entry durable and ends the turn. An answer that was lost is looked up.
  ///
  /// - Parameter position: The position after the new entry.
  /// - Returns: The failure if it is known that the log does not have the entry; otherwise `nil`.
  /// - Throws: If it is not known whether the log has the entry.
  func commit(_ position: LogPosition) throws -> StorageError?

  /// Ends the turn without an entry. Does nothing after the end.
  func giveUp()
}

/// A part of an entry.
public struct LogPart: Sendable {
  /// The number of the entry; the first one is 1.
  public let sequence: UInt64
  public let bytes: [UInt8]
  /// The chain after the entry; `nil` if this is not its last part.
  public let chain: UInt128?

  public init(sequence: UInt64, bytes: [UInt8], chain: UInt128?) {
    self.sequence = sequence
    self.bytes = bytes
    self.chain = chain
  }
}

/// A place between two entries of a log: the store that has it is the result of all entries before
/// it.
///
/// The chain is a hash of all these entries. It shows that the log has lost entries that the store
/// has, or that the store is the copy of another one.
public struct LogPosition: Sendable, Hashable {
  /// The identity of the log.
  public var hub: UInt128
  /// The number of the last entry; 0 before the first one.
  public var sequence: UInt64
  /// The chain after that entry; 0 before the first one.
  public var chain: UInt128

  /// The position before the first entry.
  public init(hub: UInt128) { self.init(hub: hub, sequence: 0, chain: 0) }

  public init(hub: UInt128, sequence: UInt64, chain: UInt128) {
    self.hub = hub
    self.sequence = sequence
    self.chain = chain
  }

  /// Returns the chain after another part of an entry: XXH3-128 of the chain before it and of the
  /// XXH3-128 of the part.
  public static func chain(_ chain: UInt128, after part: UnsafeRawBufferPointer) -> UInt128 {
    let link = [chain.littleEndian, hash(of: part).littleEndian]
    return link.withUnsafeBytes { hash(of: $0) }
  }

  private static func hash(of bytes: UnsafeRawBufferPointer) -> UInt128 {
    let hash = mooring_xxh3_128(bytes.baseAddress, bytes.count)
    return UInt128(hash.high) << 64 | UInt128(hash.low)
  }
}

/// The tree of the position. It belongs to the store of one machine: no log has operations on it,
/// and it is not among the `treeNames` of an environment.
///
///     key         value
///     position    hub 16, number of the last entry 8, chain 16; little-endian
///     dropped     the names of the dropped trees that are still to be removed, separated by a
///                 zero byte; exists only from the commit that drops them until their removal
enum PositionTree {
  static let name = "hub"
  static let positionKey = Array("position".utf8)
  static let droppedKey = Array("dropped".utf8)

  static func encode(_ position: LogPosition) -> [UInt8] {
    var bytes: [UInt8] = []
    withUnsafeBytes(of: position.hub.littleEndian) { bytes += $0 }
    withUnsafeBytes(of: position.sequence.littleEndian) { bytes += $0 }
    withUnsafeBytes(of: position.chain.littleEndian) { bytes += $0 }
    return bytes
  }

  static func decode(_ bytes: UnsafeRawBufferPointer) -> LogPosition? {
    guard bytes.count == 40 else { return nil }
    return LogPosition(
      hub: UInt128(littleEndian: bytes.loadUnaligned(as: UInt128.self)),
      sequence: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
      chain: UInt128(littleEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt128.self)))
  }
}

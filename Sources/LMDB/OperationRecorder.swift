import CMooringLMDB
import SystemSupport

/// Records the operations of a write transaction as an entry of the commit log.
///
/// An operation is recorded before LMDB runs it, because key and value may lie in a page that it
/// changes, and is taken back if LMDB refuses it. Parts go to the turn as soon as they are large
/// enough, so that memory is bounded. A nested transaction that fails takes its operations back,
/// also those that are in the turn already.
final class OperationRecorder {
  /// The size at which a part is written. A part is larger by one operation at most.
  private static let partBytesMax = 1 << 20

  private let turn: any LogTurn
  /// The operations that are not in the turn yet.
  private var bytes = TreeOperation.header
  /// The parts in the turn: the offset of their end in the entry, and the chain after them.
  private var parts: [(end: Int, chain: UInt128)] = []
  /// The chain before the entry.
  private let start: UInt128
  /// The numbers of the trees by handle.
  private var numbers: [MDB_dbi: UInt16] = [:]
  /// The named trees, by number, with the offset of their names in the entry.
  private var names: [(handle: MDB_dbi, offset: Int)] = []
  /// The offset in the entry of the last operation.
  private var last = TreeOperation.header.count
  /// The places at which the nested transactions that are running began, outermost first.
  private var marks: [Int] = []
  /// The failure of a call, which the code that called it in a nested transaction may have caught.
  private var failure: (any Error)?
  /// The number of operations, including those that were taken back.
  private(set) var count = 0
  /// Their size.
  private(set) var byteCount = 0

  /// - Parameter chain: The chain before the entry.
  init(_ turn: any LogTurn, after chain: UInt128) {
    self.turn = turn
    start = chain
  }

  var isEmpty: Bool { end == TreeOperation.header.count }

  /// The size of the parts in the turn.
  private var written: Int { parts.last?.end ?? 0 }
  private var end: Int { written + bytes.count }

  /// Records an operation that is about to run.
  ///
  /// - Parameter ending: Replaces the last four bytes of the value.
  /// - Throws: The errors of the turn; `.other` if the entry has too many trees.
  func record(
    _ kind: TreeOperation, _ tree: Tree, key: UnsafeRawBufferPointer = .empty,
    value: UnsafeRawBufferPointer = .empty, ending: UInt32? = nil
  ) throws {
    if let failure { throw failure }
    if bytes.count >= Self.partBytesMax { try write() }
    last = end
    guard tree.name != PositionTree.name else { return }
    let start = bytes.count
    appendHeader(kind, try number(of: tree))
    if kind.hasKey { append(key) }
    if kind.hasValue {
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: value.count).littleEndian) { bytes += $0 }
      bytes += value
      if let ending, value.count >= 4 {
        bytes.removeLast(4)
        withUnsafeBytes(of: ending.littleEndian) { bytes += $0 }
      }
    }
    count += 1
    byteCount += bytes.count - start
  }

  /// Takes back the last operation, which LMDB has refused.
  func takeBackLast() { takeBack(to: last) }

  // MARK: Nested transactions

  func beginNested() { marks.append(end) }

  func endNested(keepsChanges: Bool) {
    let mark = marks.removeLast()
    if !keepsChanges { takeBack(to: mark) }
  }

  private func takeBack(to mark: Int) {
    if mark >= written {
      bytes.removeLast(end - mark)
    } else {
      // `write` has ended a part at the mark.
      bytes.removeAll(keepingCapacity: true)
      while let part = parts.last, part.end > mark { parts.removeLast() }
      do {
        try turn.takeBack(toPart: parts.count)
      } catch {
        failure = error
      }
    }
    while let name = names.last, name.offset >= mark {
      names.removeLast()
      numbers[name.handle] = nil
    }
  }

  // MARK: Parts

  /// Writes what is left.
  ///
  /// - Returns: The chain after the entry.
  func finish() throws -> UInt128 {
    if let failure { throw failure }
    try write()
    return parts.last?.chain ?? start
  }

  /// Writes the recorded operations, in parts that end where nested transactions began.
  private func write() throws {
    let offset = written
    let ends = marks.filter { $0 > offset } + [end]
    do {
      try bytes.withUnsafeBytes { bytes in
        for end in ends where end > written {
          let part = UnsafeRawBufferPointer(rebasing: bytes[written - offset..<end - offset])
          try turn.write(part)
          parts.append((end, LogPosition.chain(parts.last?.chain ?? start, after: part)))
        }
      }
    } catch {
      failure = error
      throw error
    }
    bytes.removeAll(keepingCapacity: true)
  }

  private func number(of tree: Tree) throws -> UInt16 {
    if let number = numbers[tree.handle] { return number }
    guard let number = UInt16(exactly: names.count) else {
      throw StorageError(
        .other, "the transaction changes too many trees", advice: "commit in smaller pieces")
    }
    names.append((tree.handle, end))
    numbers[tree.handle] = number
    appendHeader(.name, number)
    var name = tree.name
    name.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    return number
  }

  private func appendHeader(_ kind: TreeOperation, _ tree: UInt16) {
    bytes.append(kind.rawValue)
    withUnsafeBytes(of: tree.littleEndian) { bytes += $0 }
  }

  private func append(_ key: UnsafeRawBufferPointer) {
    withUnsafeBytes(of: UInt16(truncatingIfNeeded: key.count).littleEndian) { bytes += $0 }
    bytes += key
  }
}

extension UnsafeRawBufferPointer {
  static var empty: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}

package import EntityModel
import Foundation
import LMDB

/// The tree `history` for reading; `HistoryLog` documents its layout.
///
/// Bounds are checked everywhere: damaged bytes give an error and never an invalid memory access.
package struct HistoryTree {
  package static let name = "history"
  /// The entity of the consumers of the change history. A store that has it has a history.
  package static let consumerEntity = "_HistoryConsumer"

  let tree: Tree
  let transaction: TreeTransaction
  /// The first transaction whose parts are compared with their seals; `nil` to compare none.
  var verifiedSince: Int64?

  /// One change as it is stored in a part. Its bytes are valid until the transaction ends or
  /// writes.
  package struct Change {
    package typealias StoredValue = (
      attributeID: Int, kind: ValueKind, bytes: UnsafeRawBufferPointer
    )

    package var kind: HistoryKind
    package var entityID: Int
    package var id: Int64
    /// The changed properties of an update: a property's id * 2, and 1 more for a relationship.
    package var properties: [Int] = []
    var values: [StoredValue] = []
  }

  package struct Header {
    let sequence: Int64
    let time: Double
    let author: String?
  }

  /// Returns the number of the oldest transaction; `nil` if there is none.
  package func first() throws -> Int64? {
    var cursor = try transaction.cursor(tree)
    return try cursor.first().map { try key($0).sequence }
  }

  /// Returns the number of the newest transaction; 0 if there is none.
  package func last() throws -> Int64 {
    var cursor = try transaction.cursor(tree)
    return try cursor.last().map { try key($0).sequence } ?? 0
  }

  /// Returns true if all transactions after a number are stored.
  package func reaches(back sequence: Int64) throws -> Bool {
    try sequence <= last() && (first() ?? 1) - 1 <= sequence
  }

  /// Returns a hash of a transaction, which distinguishes it from one with the same number in a
  /// restored store.
  func mark(of sequence: Int64) throws -> Int64? {
    try HistoryKey(sequence: sequence, part: 0).withBytes { key in
      try transaction.get(tree, key).map { ContentHash.of($0) }
    }
  }

  /// Calls the closures with each transaction after a number, with each of its changes in the order
  /// in which they were made, and at its end, before anything of the next one is read.
  ///
  /// - Parameter sequence: 0 begins with the oldest stored one.
  /// - Parameter end: Returns `false` to stop.
  /// - Throws: `damaged` also if a transaction or a part of one is missing.
  package func forEach(
    after sequence: Int64, begin: (Header) -> Void = { _ in }, change: (Change) -> Void,
    end: () throws -> Bool = { true }
  ) throws {
    var cursor = try transaction.cursor(tree)
    let start = HistoryKey(sequence: sequence + 1, part: 0)
    var previous = sequence == 0 ? nil : HistoryKey(sequence: sequence, part: 0)
    var entry = try start.withBytes { try cursor.seek(atLeast: $0) }
    var hasBegun = false
    while let found = entry {
      let key = try key(found)
      if key.part == 0, hasBegun, try !end() { return }
      guard key.follows(previous) else { throw StoreError.damagedHistory }
      previous = key
      if !hasValidSeal(found, key) { throw StoreError.damagedHistory }
      var bytes = found.value[...]
      if key.part == 0 {
        guard let header = header(&bytes, key.sequence) else { throw StoreError.damagedHistory }
        begin(header)
        hasBegun = true
      }
      try forEachChange(&bytes, change)
      entry = try cursor.next()
    }
    if hasBegun { _ = try end() }
  }

  /// Calls the closure with each change of one part.
  func forEachChange(
    of entry: Cursor.Entry, _ key: HistoryKey, _ body: (Change) throws -> Void
  ) throws {
    var bytes = entry.value[...]
    if key.part == 0, header(&bytes, key.sequence) == nil { throw StoreError.damagedHistory }
    try forEachChange(&bytes, body)
  }

  /// Returns the header of a transaction from its first part; `nil` if it is unreadable.
  func header(of entry: Cursor.Entry, _ key: HistoryKey) -> Header? {
    var bytes = entry.value[...]
    return header(&bytes, key.sequence)
  }

  func key(_ entry: Cursor.Entry) throws -> HistoryKey {
    guard let key = HistoryKey(entry.key) else { throw StoreError.damagedHistory }
    return key
  }

  private typealias Bytes = UnsafeRawBufferPointer.SubSequence

  private func header(_ bytes: inout Bytes, _ sequence: Int64) -> Header? {
    guard bytes.popFirst() == 1, let time = take(8, of: &bytes),
      let length = Varint.readCount(&bytes)
    else { return nil }
    let bits = UInt64(littleEndian: time.loadUnaligned(as: UInt64.self))
    var author: String?
    if length > 0 {
      guard let name = take(length - 1, of: &bytes) else { return nil }
      author = String(decoding: name, as: UTF8.self)
    }
    return Header(sequence: sequence, time: Double(bitPattern: bits), author: author)
  }

  private func forEachChange(_ bytes: inout Bytes, _ body: (Change) throws -> Void) throws {
    var previous: Int64 = 0
    while !bytes.isEmpty {
      guard let change = change(&bytes, &previous) else { throw StoreError.damagedHistory }
      if HistorySeal.isSeal(change), bytes.isEmpty { return }
      try body(change)
    }
  }

  /// Compares a part with its seal.
  ///
  /// - Returns: True also for a part that is not to be compared.
  func hasValidSeal(_ entry: Cursor.Entry, _ key: HistoryKey) -> Bool {
    guard let verifiedSince, key.sequence >= verifiedSince else { return true }
    return HistorySeal.ends(entry.value, of: key)
  }

  private func change(_ bytes: inout Bytes, _ previous: inout Int64) -> Change? {
    guard let word = Varint.readCount(&bytes), let kind = HistoryKind(rawValue: word & 3) else {
      return nil
    }
    var change = Change(kind: kind, entityID: word >> 2, id: 0)
    if kind == .unrecorded { return change }
    guard let step = Varint.readSigned(&bytes) else { return nil }
    previous &+= step
    change.id = previous
    if kind == .insert { return change }
    if kind == .update {
      guard let count = Varint.readCount(&bytes), count <= bytes.count else { return nil }
      for _ in 0..<count {
        guard let property = Varint.readCount(&bytes) else { return nil }
        change.properties.append(property)
      }
    }
    guard let count = Varint.readCount(&bytes), count <= bytes.count else { return nil }
    for _ in 0..<count {
      guard let id = Varint.readCount(&bytes), let code = bytes.popFirst(),
        let kind = HistoryKind.kind(of: code), let length = Varint.readCount(&bytes),
        let value = take(length, of: &bytes)
      else { return nil }
      change.values.append((id, kind, value))
    }
    return change
  }

  private func take(_ count: Int, of bytes: inout Bytes) -> UnsafeRawBufferPointer? {
    guard count >= 0, count <= bytes.count else { return nil }
    defer { bytes.removeFirst(count) }
    return UnsafeRawBufferPointer(rebasing: bytes.prefix(count))
  }
}

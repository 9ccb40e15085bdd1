/// The seal at the end of a part of the change history.
///
/// It has the form of a change of the kind `unrecorded`, of the entity with the number 2³² + seal,
/// which does not exist: programs that know no seals read past it. A part of a transaction before
/// `Schema.sealedHistorySince` has none.
enum HistorySeal {
  /// The number of the entity for a seal of 0. Its varint has 5 bytes, whatever the seal.
  private static let entityIDMin = 1 << 32
  static let byteCount = 5

  /// Appends the seal of a part.
  static func append(to part: inout [UInt8], of key: HistoryKey) {
    let seal = part.withUnsafeBytes { Seal.of($0, at: place(of: key)) }
    Varint.append((entityIDMin + Int(seal)) * 4 + HistoryKind.unrecorded.rawValue, to: &part)
  }

  static func isSeal(_ change: HistoryTree.Change) -> Bool {
    change.kind == .unrecorded && change.entityID >= entityIDMin
  }

  /// Returns true if the part ends with its seal.
  static func ends(_ part: UnsafeRawBufferPointer, of key: HistoryKey) -> Bool {
    guard part.count > byteCount else { return false }
    var sealed = Array(part.dropLast(byteCount))
    append(to: &sealed, of: key)
    return sealed.elementsEqual(part)
  }

  private static func place(of key: HistoryKey) -> (UInt64, UInt64) {
    (UInt64(bitPattern: key.sequence), UInt64(key.part))
  }
}

import TextFormats

/// A named value of an item.
package struct Field: Equatable, Sendable {
  package var name: String
  package var value: ScalarValue
}

/// The fields of one item in document order, each name once.
///
/// The fields of all items of a page are kept together, and a list is a range of them. Texts stay
/// bytes: a `String` is created when a field is asked for.
package struct FieldList: Sendable {
  /// The fields of the page; `nil` while the page is read, and for an empty list.
  private var values: FieldValues?
  private let range: Range<Int>

  init(_ range: Range<Int> = 0..<0) {
    self.range = range
  }

  /// Completes the list when all items of its page have been read.
  mutating func attach(_ values: FieldValues) { self.values = values }

  /// Calls the closure with the fields in place; does not call it for an empty list.
  package func withEntries(_ body: (FieldEntries) -> Void) {
    guard let values, !range.isEmpty else { return }
    values.entries.withUnsafeBufferPointer { entries in
      values.texts.withUnsafeBytes { texts in
        body(
          FieldEntries(
            entries: UnsafeBufferPointer(rebasing: entries[range]), values: values, texts: texts))
      }
    }
  }
}

/// The fields of one item in place, valid only inside the closure that they were lent to.
@frozen
@usableFromInline
package struct FieldEntries {
  @usableFromInline
  package let entries: UnsafeBufferPointer<FieldEntry>
  @usableFromInline
  package let values: FieldValues
  @usableFromInline
  let texts: UnsafeRawBufferPointer

  /// Returns the bytes of a text, which are well-formed UTF-8.
  @inlinable
  package func text(_ entry: FieldEntry) -> UnsafeRawBufferPointer {
    let start = Int(entry.bits >> 32)
    return UnsafeRawBufferPointer(rebasing: texts[start..<(start + Int(entry.bits & 0xFFFF_FFFF))])
  }
}

extension FieldList: RandomAccessCollection, Equatable {
  package var startIndex: Int { 0 }
  package var endIndex: Int { range.count }

  package subscript(position: Int) -> Field {
    guard let values else { preconditionFailure("the page of the fields is not read yet") }
    precondition(position >= 0 && position < range.count)
    return values.field(values.entries[range.lowerBound + position])
  }

  package static func == (left: FieldList, right: FieldList) -> Bool { left.elementsEqual(right) }
}

/// One field among those of a page.
@frozen
@usableFromInline
package struct FieldEntry: Sendable {
  @frozen
  @usableFromInline
  package enum Kind: UInt8, Sendable {
    case null, bool, int64, double
    /// A text of the document.
    case text
    /// A value that takes memory of its own.
    case other
  }

  /// The number of its name.
  @usableFromInline
  package let name: Int32
  @usableFromInline
  package let kind: Kind
  /// A truth value, the bits of a number, the offset of a text in the upper half and its length in
  /// the lower one, or the number of another value.
  @usableFromInline
  package let bits: UInt64
}

/// The fields of all items of a page.
@usableFromInline
package final class FieldValues: Sendable {
  /// The names of the fields by number.
  package let names: [String]
  fileprivate let entries: [FieldEntry]
  /// The texts one after the other, as well-formed UTF-8.
  fileprivate let texts: ByteBuffer
  private let others: [ScalarValue]

  init(names: [String], entries: [FieldEntry], texts: ByteBuffer, others: [ScalarValue]) {
    self.names = names
    self.entries = entries
    self.texts = texts
    self.others = others
  }

  package func field(_ entry: FieldEntry) -> Field {
    Field(name: names[Int(entry.name)], value: value(entry))
  }

  package func value(_ entry: FieldEntry) -> ScalarValue {
    switch entry.kind {
    case .null: .null
    case .bool: .bool(entry.bits != 0)
    case .int64: .int64(Int64(bitPattern: entry.bits))
    case .double: .double(Double(bitPattern: entry.bits))
    case .text: .string(text(entry))
    case .other: others[Int(entry.bits)]
    }
  }

  private func text(_ entry: FieldEntry) -> String {
    let start = Int(entry.bits >> 32)
    let end = start + Int(entry.bits & 0xFFFF_FFFF)
    return texts.withUnsafeBytes { String(decoding: $0[start..<end], as: UTF8.self) }
  }
}

/// A document in which single elements cannot be read because of a wrong escape, a wrong number or
/// invalid UTF-8. Its structure is sound, so the other elements are used.
struct DamagedElements {
  /// The text with a placeholder for each damaged element.
  let text: PaddedJSON
  /// The errors of the damaged elements, in document order.
  private(set) var errors: [DocumentError] = []

  /// Reads every element of every array that is a member of the root object. Returns nil if none is
  /// damaged, so that the fault is elsewhere.
  init?(_ bytes: UnsafeRawBufferPointer, _ parser: JSONParser) throws(DocumentError) {
    var damaged: [(range: Range<Int>, error: DocumentError)] = []
    do throws(DocumentError) {
      try parser.withDocument(bytes) { document throws(DocumentError) in
        for member in document.members {
          for index in member.elementIndices {
            do throws(DocumentError) {
              try document.withElement(index, of: member) { _ in }
            } catch  where error.code != .outOfMemory {
              damaged.append((document.extent(ofElement: index, of: member), error))
            }
          }
        }
      }
    } catch  where error.code == .notAnObject {
      return nil
    }
    if damaged.isEmpty { return nil }
    var text = Array(bytes)
    for (range, error) in damaged where !range.isEmpty {
      // An element too short for null is a literal or a number.
      let placeholder = Array((range.count < 4 ? "0" : "null").utf8)
      for place in range { text[place] = UInt8(ascii: " ") }
      text.replaceSubrange(
        range.lowerBound..<range.lowerBound + placeholder.count, with: placeholder)
      errors.append(error)
    }
    self.text = PaddedJSON(text)
  }

  /// Returns true if the value may be a placeholder; such a value is never an item.
  static func isPlaceholder(_ value: JSONValue) -> Bool { value.isNull || value.int64 == 0 }
}

import Mooring

/// Reads a text as a predicate, or an error with a position inside the text. A predicate prints as
/// text that reads back to the same tree.
@_cdecl("fuzz_predicate_format")
public func fuzzPredicateFormat(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
  // SAFETY: libFuzzer keeps the `count` bytes until this returns; they are copied.
  let format = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  // As many arguments as the text may ask for: one too many refuses it.
  let arguments: [(any PredicateArgument)?] = ["a.b", 1, nil]
  let specifiers = min(3, format.utf8.count { $0 == UInt8(ascii: "%") })
  do {
    let tree = try FetchPredicate(format: format, arguments: Array(arguments[..<specifiers]))
    expectSameTree(tree)
  } catch {
    guard (0...format.utf8.count).contains(error.offset), error.caret.contains("\n") else {
      fatalError("an error without a place: \(error)")
    }
  }
}

private func expectSameTree(_ tree: FetchPredicate) {
  let text = tree.description
  do {
    guard try FetchPredicate(format: text) == tree else {
      fatalError("reads back to another tree: \(text)")
    }
  } catch {
    fatalError("does not read back: \(error.message)\n\(error.caret)")
  }
}

import CMooringLMDB
import Glibc

/// A slot of the reader table that is in use.
public struct Reader: Hashable, Sendable {
  /// The process id.
  public let process: Int32
  /// The number of the last transaction in its snapshot; `nil` for an idle slot. Pages that were
  /// freed after it cannot be used again until it ends.
  public let transactionID: Int?
}

extension Environment {
  /// Returns the readers of all processes.
  ///
  /// - Complexity: O(size of the reader table).
  public func readerSlots() throws -> [Reader] {
    var lines = ReaderLines()
    // SAFETY: LMDB calls the function only during the call, in which `lines` is alive, with a line
    // that ends with NUL.
    let result = withUnsafeMutablePointer(to: &lines) { lines in
      mdb_reader_list(
        raw,
        { line, context in
          guard let line, let lines = context?.assumingMemoryBound(to: ReaderLines.self) else {
            return 0
          }
          lines.pointee.texts.append(String(cString: line))
          return 0
        }, lines)
    }
    guard result >= 0 else { throw failure(result, doing: "reading the table of readers") }
    return lines.texts.compactMap(Reader.init)
  }
}

private struct ReaderLines {
  var texts: [String] = []
}

extension Reader {
  /// Reads a line of LMDB's listing: process, thread, transaction or `-`. The title, and the line
  /// that says that there are none, give `nil`.
  fileprivate init?(line: String) {
    let words = line.split { $0 == " " || $0 == "\n" }
    guard words.count == 3, let process = Int32(words[0]) else { return nil }
    self.init(process: process, transactionID: Int(words[2]))
  }
}

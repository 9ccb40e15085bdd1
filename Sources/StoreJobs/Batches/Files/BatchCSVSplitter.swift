/// Splits CSV (RFC 4180) with a header line into rows. Empty lines are skipped.
struct BatchCSVSplitter {
  private static let fieldsMax = 4_096

  private var names: [String]?

  private struct Problem: Error { let text: String }

  private struct Row {
    let line: Int
    let fields: Result<[BatchField], Problem>
  }

  /// - Throws: `BatchFileError` for a header that is malformed.
  mutating func next(_ bytes: BatchBytes) throws -> BatchFileItem? {
    if names == nil { names = try header(bytes) }
    guard let names, let row = try row(bytes) else { return nil }
    let place = bytes.place(ofLine: row.line)
    switch row.fields {
    case .failure(let problem):
      return BatchFileItem(content: .malformed(problem.text), place: place)
    case .success(let fields) where fields.count != names.count:
      let text = "the row has \(fields.count) fields, and the header \(names.count)"
      return BatchFileItem(content: .malformed(text), place: place)
    case .success(let fields):
      return BatchFileItem(content: .fields(names: names, fields), place: place)
    }
  }

  private func header(_ bytes: BatchBytes) throws -> [String]? {
    guard let row = try row(bytes) else { return nil }
    func refusal(_ text: String) -> BatchFileError {
      BatchFileError(.malformed, "\(bytes.place(ofLine: row.line)): \(text)")
    }
    switch row.fields {
    case .failure(let problem): throw refusal(problem.text)
    case .success(let fields):
      var seen: Set<String> = []
      let names = fields.map(\.text)
      if let twice = names.first(where: { !seen.insert($0).inserted }) {
        throw refusal("the header names \"\(twice)\" twice")
      }
      return names
    }
  }

  /// Returns the next row that is not empty. After a mistake the rest of its line is skipped.
  private func row(_ bytes: BatchBytes) throws -> Row? {
    while let byte = try bytes.peek(), byte.isLineEnd { _ = try bytes.next() }
    guard try bytes.peek() != nil else { return nil }
    let line = bytes.line
    do {
      var fields: [BatchField] = []
      var size = 0
      var isLast = false
      while !isLast {
        guard fields.count < Self.fieldsMax else {
          throw Problem(text: "the row has more than \(Self.fieldsMax) fields")
        }
        var text: [UInt8] = []
        let isQuoted = try bytes.peek() == UInt8(ascii: "\"")
        if isQuoted { try readQuoted(bytes, into: &text, size, line) }
        isLast = try readToEnd(bytes, isQuoted, into: &text, size, line)
        size += text.count
        guard let text = String(validating: text, as: UTF8.self) else {
          throw Problem(text: "the row is no UTF-8 text")
        }
        fields.append(BatchField(text: text, isQuoted: isQuoted))
      }
      return Row(line: line, fields: .success(fields))
    } catch let problem as Problem {
      while let byte = try bytes.peek(), byte != UInt8(ascii: "\n") { _ = try bytes.next() }
      return Row(line: line, fields: .failure(problem))
    }
  }

  /// Reads a field up to its closing quote.
  private func readQuoted(
    _ bytes: BatchBytes, into text: inout [UInt8], _ size: Int, _ line: Int
  ) throws {
    _ = try bytes.next()
    while let byte = try bytes.next() {
      if byte == UInt8(ascii: "\"") {
        guard try bytes.peek() == UInt8(ascii: "\"") else { return }
        _ = try bytes.next()
      }
      text.append(byte)
      try bytes.requireRoom(for: size + text.count, fromLine: line)
    }
    throw Problem(text: "a field has no closing quote")
  }

  /// Reads up to the comma or the end of the line.
  ///
  /// - Returns: True if it was the last field.
  private func readToEnd(
    _ bytes: BatchBytes, _ isQuoted: Bool, into text: inout [UInt8], _ size: Int, _ line: Int
  ) throws -> Bool {
    while let byte = try bytes.peek() {
      switch byte {
      case UInt8(ascii: ","):
        _ = try bytes.next()
        return false
      case UInt8(ascii: "\n"):
        _ = try bytes.next()
        return true
      case UInt8(ascii: "\r"):
        _ = try bytes.next()
        if let next = try bytes.peek(), next != UInt8(ascii: "\n") {
          throw Problem(text: "a carriage return is within a line; quote the field")
        }
      case _ where isQuoted:
        throw Problem(text: "text follows a closing quote; write \"\" for a quote")
      case UInt8(ascii: "\""):
        throw Problem(text: "a quote is within a field; quote the field")
      default:
        _ = try bytes.next()
        text.append(byte)
        try bytes.requireRoom(for: size + text.count, fromLine: line)
      }
    }
    return true
  }
}

extension UInt8 {
  fileprivate var isLineEnd: Bool { self == 0x0A || self == 0x0D }
}

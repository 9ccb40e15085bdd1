import EntityModel
import Foundation

/// Reads the value of a cell: the cell itself, a file beside the source, or an archive.
struct CellContents: Sendable {
  private let externals: ExternalBlobs

  /// - Parameter source: The path of the legacy file itself, not of its copy.
  init(source: String) { externals = ExternalBlobs(source: source) }

  func value(of cell: Cell, as mapping: AttributeMapping) throws(Reject) -> Value {
    switch mapping.content {
    case .value: return try plain(cell, mapping)
    case .external: return try plain(try external(cell, mapping), mapping)
    case .archive(let classes, let keepsBytes):
      guard case .blob(let bytes) = cell else { return try plain(cell, mapping) }
      do {
        return try KeyedArchiveValue.value(of: bytes, allowing: classes)
      } catch {
        if keepsBytes { return .data(Data(bytes)) }
        throw Reject(.archiveRefused, mapping.attribute, "\(error)")
      }
    }
  }

  private func external(_ cell: Cell, _ mapping: AttributeMapping) throws(Reject) -> Cell {
    do {
      return try externals.value(cell)
    } catch {
      let (code, message): (Reject.Code, String) =
        switch error {
        case .missing: (.externalMissing, "the file with the value does not exist")
        case .unsafe:
          (.externalUnsafe, "the file that has the value is not a regular file of the store")
        case .unknownPrefix: (.externalUnknown, "the first byte is unknown")
        case .tooLarge: (.tooLarge, "the value has more bytes than a record holds")
        case .unreadable: (.externalMissing, "the file that has the value cannot be read")
        }
      throw Reject(code, mapping.attribute, message)
    }
  }

  private func plain(_ cell: Cell, _ mapping: AttributeMapping) throws(Reject) -> Value {
    switch cell {
    case .null: return .null
    case .integer(let number): return .int64(number)
    case .real(let number): return .double(number)
    case .text(let text): return .string(text)
    case .blob(let bytes): return .data(Data(bytes))
    case .badText(let bytes): return try text(bytes, mapping)
    case .oversized(let count):
      throw Reject(.tooLarge, mapping.attribute, "\(count) bytes are more than a record holds")
    }
  }

  private func text(_ bytes: [UInt8], _ mapping: AttributeMapping) throws(Reject) -> Value {
    switch mapping.badText {
    case .latin1:
      return .string(String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })))
    case .replace: return .string(String(decoding: bytes, as: UTF8.self))
    case .refuse where mapping.type.kind == .data: return .data(Data(bytes))
    case .refuse:
      throw Reject(
        .badUTF8, mapping.attribute,
        "the text is not UTF-8; set badText to latin1 or replace")
    }
  }
}

extension CellContents {
  /// Counts the files beside the source that rows name, and those of them that exist.
  ///
  /// - Returns: `nil` where no attribute has its values in files.
  func files(of context: ImportContext) throws -> ImportReport.ExternalFiles? {
    var columns: [(table: SourceTable, columns: [String])] = []
    for table in context.bound.tables {
      let found = Set(
        table.parts.flatMap { part in
          part.attributes.compactMap { attribute in
            attribute.mapping.content == .external
              ? attribute.cell.map { table.columns[$0] } : nil
          }
        })
      if !found.isEmpty { columns.append((table.table, found.sorted())) }
    }
    if columns.isEmpty { return nil }
    var files = ImportReport.ExternalFiles()
    // If the folder cannot be listed, none of the files in it can be read.
    let there = (try? externals.fileNames()) ?? []
    var named: Set<String> = []
    for (table, columns) in columns {
      let reader = try context.database.rows(of: table, columns: columns)
      while let row = try reader.next() {
        try context.checkCancellation()
        for cell in row.cells {
          // What is no name has been rejected with its row.
          guard let name = try? ExternalBlobs.fileName(cell) else { continue }
          files.referenced += 1
          if there.contains(name) { files.found += 1 } else { files.missing += 1 }
          named.insert(name)
        }
      }
    }
    files.orphaned = Int64(there.subtracting(named).count)
    return files
  }
}

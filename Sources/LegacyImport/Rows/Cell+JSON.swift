import EntityStore
import Foundation
import TextFormats

extension Cell {
  /// The value as JSON. Bytes that are no text are base64 in an object.
  var json: String {
    switch self {
    case .null: "null"
    case .integer(let number): String(number)
    case .real(let number): number.isFinite ? number.description : "\"\(number)\""
    case .text(let text): JSONLiteral.quoted(text, .stored)
    case .badText(let bytes): "{\"badText\":\"\(Data(bytes).base64EncodedString())\"}"
    case .blob(let bytes): "{\"blob\":\"\(Data(bytes).base64EncodedString())\"}"
    case .oversized(let count): "{\"bytes\":\(count)}"
    }
  }

  /// The value as JSON, cut if it is long, for the row of a reject.
  var excerpt: String {
    switch self {
    case .text(let text) where text.utf8.count > Limits.excerptBytesMax:
      JSONLiteral.quoted(String(text.prefix(Limits.excerptBytesMax / 4)) + "…", .stored)
    case .badText(let bytes) where bytes.count > Limits.excerptBytesMax,
      .blob(let bytes) where bytes.count > Limits.excerptBytesMax:
      "{\"bytes\":\(bytes.count),\"xxh3\":"
        + "\"\(UInt64(bitPattern: bytes.withUnsafeBytes { ContentHash.of($0) }))\"}"
    default: json
    }
  }
}

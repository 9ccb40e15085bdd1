import EntityStore
import Foundation
import TextFormats

extension Cell {
  /// As JSON: bytes that are no text as base64 in an object.
  var json: String {
    switch self {
    case .null: "null"
    case .integer(let number): String(number)
    case .real(let number): number.isFinite ? number.description : "\"\(number)\""
    case .text(let text): JSONLiteral.quoted(text)
    case .badText(let bytes): "{\"badText\":\"\(Data(bytes).base64EncodedString())\"}"
    case .blob(let bytes): "{\"blob\":\"\(Data(bytes).base64EncodedString())\"}"
    case .oversized(let count): "{\"bytes\":\(count)}"
    }
  }

  /// The same, with long values cut: for the row of a reject.
  var excerpt: String {
    switch self {
    case .text(let text) where text.utf8.count > Limits.excerptBytesMax:
      JSONLiteral.quoted(String(text.prefix(Limits.excerptBytesMax / 4)) + "…")
    case .badText(let bytes) where bytes.count > Limits.excerptBytesMax,
      .blob(let bytes) where bytes.count > Limits.excerptBytesMax:
      "{\"bytes\":\(bytes.count),\"xxh3\":\"\(bytes.withUnsafeBytes { UInt64(bitPattern: ContentHash.of($0)) })\"}"
    default: json
    }
  }
}

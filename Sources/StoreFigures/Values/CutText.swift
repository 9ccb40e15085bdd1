extension String {
  /// Returns the text, or its beginning and an ellipsis if it has more bytes.
  func cut(toBytes bytesMax: Int) -> String {
    guard utf8.count > bytesMax else { return self }
    let ellipsis = "…"
    var end = utf8.index(utf8.startIndex, offsetBy: max(0, bytesMax - ellipsis.utf8.count))
    while end.samePosition(in: unicodeScalars) == nil { utf8.formIndex(before: &end) }
    return String(self[..<end]) + ellipsis
  }
}

/// The rules of the text of lines and comments.
enum WrittenText {
  private static let columnsMax = 100

  /// The lines of more than 100 characters. Tests may have longer texts, which they compare.
  static func longLines(_ file: SourceFile) -> [String] {
    var found: [String] = []
    var number = 0
    for line in file.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      guard line.count > columnsMax else { continue }
      if file.area == "Tests", file.longLiteralLines.contains(number) { continue }
      let columns = String(decoding: line, as: UTF8.self).count
      if columns > columnsMax { found.append("\(file.path):\(number): \(columns) columns") }
    }
    return found
  }

  private static let openings: Set = [
    "of", "by", "as", "who", "whoever", "what", "whether",
  ]

  /// The doc comments that do not open with a verb or a noun phrase.
  static func docCommentOpenings(_ file: SourceFile) -> [String] {
    file.docComments.compactMap { comment in
      let words = comment.text.split(maxSplits: 2) { !$0.isLetter && $0 != "'" && $0 != "`" }
      guard let first = words.first?.lowercased() else { return nil }
      let isForWhat = first == "for" && words.dropFirst().first?.lowercased() == "what"
      guard openings.contains(first) || isForWhat else { return nil }
      let line = comment.text.split(separator: "\n").first ?? ""
      return "\(file.path):\(comment.line): opens with \"\(line.prefix(60).drop { $0 == " " })\""
    }
  }
}

/// Files that are worth opening: shorter ones belong into their neighbor.
enum SmallFiles {
  private static let linesMin = 25

  /// Small files that stay, each with the reason.
  static let exceptions = [
    "Sources/Mooring/Mooring.swift": "re-exports alone"
  ]

  static func violations(_ file: SourceFile) -> [String] {
    guard file.isSwift, file.area != "Tests", file.lineCount < linesMin,
      file.name != "Package.swift", exceptions[file.path] == nil
    else { return [] }
    return ["\(file.path): \(file.lineCount) lines"]
  }
}

import Foundation

/// The README and the pages of the documentation, read from the source tree.
struct DocumentationPage: Sendable, CustomStringConvertible {
  /// A fenced or indented block of a page.
  struct Listing: Sendable {
    /// The word after the fence; `console` for an indented block.
    let language: String
    let text: String
    /// The last line of text before the block.
    let introduction: String
    let line: Int
  }

  /// The path below the root of the project.
  let path: String
  let text: String

  var description: String { path }
  var name: String { URL(filePath: path).deletingPathExtension().lastPathComponent }

  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  static let catalog = "Sources/Mooring/Mooring.docc"

  /// The README, the pages beside it, and the pages of all catalogs, by path.
  static let all: [DocumentationPage] = {
    var paths = ["README.md", "CONTRIBUTING.md", "Migrations/README.md"]
    let sources = root.appending(path: "Sources")
    let files = FileManager.default.enumerator(atPath: sources.path)
    while let file = files?.nextObject() as? String {
      if file.hasSuffix(".md"), file.contains(".docc/") { paths.append("Sources/" + file) }
    }
    return paths.sorted().map(read)
  }()

  static func named(_ name: String) -> DocumentationPage { read("\(catalog)/\(name).md") }

  private static func read(_ path: String) -> DocumentationPage {
    let data = FileManager.default.contents(atPath: root.appending(path: path).path)
    return DocumentationPage(path: path, text: String(decoding: data ?? Data(), as: UTF8.self))
  }

  func listings(_ language: String) -> [Listing] { listings.filter { $0.language == language } }

  /// All blocks in their order.
  var listings: [Listing] {
    var listings: [Listing] = []
    var introduction = ""
    var block: (language: String, lines: [Substring], line: Int, isFenced: Bool)?
    func end() {
      guard var found = block else { return }
      while found.lines.last?.isEmpty == true { found.lines.removeLast() }
      let text = dedented(found.lines)
      listings.append(
        Listing(
          language: found.language, text: text, introduction: introduction, line: found.line))
      block = nil
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      if block?.isFenced == true {
        if line == "```" { end() } else { block?.lines.append(line) }
      } else if line.hasPrefix("```") {
        end()
        block = (String(line.dropFirst(3)), [], index + 1, true)
      } else if line.hasPrefix("    "), block != nil || lines[max(0, index - 1)].isEmpty {
        if block == nil { block = ("console", [], index + 1, false) }
        block?.lines.append(line)
      } else if line.isEmpty {
        block?.lines.append(line)
      } else {
        end()
        introduction = String(line)
      }
    }
    end()
    return listings
  }

  /// The text without its listings.
  var prose: String {
    var isCode = false
    return text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      if line.hasPrefix("```") { isCode.toggle() }
      return !isCode && !line.hasPrefix("```") && !line.hasPrefix("    ")
    }.joined(separator: "\n")
  }
}

/// The lines without the spaces that all of them begin with.
func dedented(_ lines: some Collection<Substring>) -> String {
  let margin =
    lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
  return lines.map { $0.dropFirst(margin) }.joined(separator: "\n")
}

/// The Swift code that this target compiles for the pages: the lines between `// listing` and
/// `// end` of its files.
enum CompiledListings {
  static let all: Set<String> = {
    var found: Set<String> = []
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let files = FileManager.default.enumerator(atPath: folder.path)
    while let file = files?.nextObject() as? String {
      guard file.hasSuffix(".swift"),
        let data = FileManager.default.contents(atPath: folder.appending(path: file).path)
      else { continue }
      var lines: [Substring]?
      for line in String(decoding: data, as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: false)
      {
        switch line.trimmingPrefix(while: \.isWhitespace) {
        case "// listing": lines = []
        case "// end":
          if let lines { found.insert(dedented(lines)) }
          lines = nil
        default: lines?.append(line)
        }
      }
    }
    return found
  }()
}

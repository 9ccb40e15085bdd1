/// The content of a page, for HTML, JSON and CSV.
struct Page: Sendable {
  enum Block: Sendable {
    case html(HTML)
    case table(WebTable)
    case facts(String, [(String, WebTable.Cell)])
  }

  let title: String
  var blocks: [Block] = []
  /// The page as a JSON document.
  let json: String
  var status = 200

  init(_ title: String, json: String) {
    self.title = title
    self.json = json
  }

  func table(named name: String) -> WebTable? {
    for case .table(let table) in blocks where table.name == name { return table }
    return nil
  }

  /// - Parameter link: Returns the URL of the page as a file of a table.
  func main(link: (String) -> String) -> HTML {
    HTML(
      blocks.map { block in
        switch block {
        case .html(let html): html
        case .table(let table): table.html(link: link(table.name))
        case .facts(let title, let facts):
          "<section><h2>\(title)</h2><dl>\(Self.list(facts))</dl></section>"
        }
      })
  }

  private static func list(_ facts: [(String, WebTable.Cell)]) -> HTML {
    HTML(
      facts.filter { !$0.1.text.isEmpty }
        .map { "<div><dt>\($0.0)</dt><dd>\($0.1.html)</dd></div>" })
  }
}

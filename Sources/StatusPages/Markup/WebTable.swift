import TextFormats

/// A table of a page, which is also a file of comma-separated values.
struct WebTable: Sendable {
  struct Column: Sendable {
    let title: String
    var isNumber = false

    init(_ title: String, isNumber: Bool = false) {
      self.title = title
      self.isNumber = isNumber
    }

    static func number(_ title: String) -> Column { Column(title, isNumber: true) }
  }

  struct Cell: Sendable {
    /// The text in a file.
    let text: String
    let html: HTML

    /// - Parameter link: A path of this server.
    init(_ text: String, link: String? = nil) {
      self.text = text
      html = link.map { "<a href=\"\($0)\">\(text)</a>" } ?? "\(text)"
    }

    init(_ text: String, html: HTML) {
      self.text = text
      self.html = html
    }
  }

  /// The name in URLs.
  let name: String
  let title: String
  let columns: [Column]
  var rows: [[Cell]] = []
  /// The text in place of a table without rows.
  let empty: String
  /// Follows the table, such as links to further pages.
  var footer: HTML = .none

  init(_ name: String, _ title: String, _ columns: [Column], empty: String) {
    self.name = name
    self.title = title
    self.columns = columns
    self.empty = empty
  }

  mutating func append(_ cells: [Cell]) {
    precondition(cells.count == columns.count, "a row has one cell for each column")
    rows.append(cells)
  }

  /// - Parameter link: The URL of the table as a file.
  func html(link: String) -> HTML {
    if rows.isEmpty {
      return "<section><h2 id=\"\(name)\">\(title)</h2><p class=\"empty\">\(empty)</p></section>"
    }
    let head = HTML(columns.map { "<th scope=\"col\"\(Self.style($0))>\($0.title)</th>" })
    let body = HTML(
      rows.map { row -> HTML in
        let cells = HTML(
          zip(columns, row).map { "<td\(Self.style($0))>\($1.html)</td>" })
        return "<tr>\(cells)</tr>\n"
      })
    return """
      <section><h2 id="\(name)">\(title) <a class="file" href="\(link)">CSV</a></h2>
      <div class="scroll" tabindex="0" role="region" aria-labelledby="\(name)"><table>
      <thead><tr>\(head)</tr></thead>
      <tbody>\(body)</tbody></table></div>\(footer)</section>
      """
  }

  private static func style(_ column: Column) -> HTML {
    column.isNumber ? " class=\"n\"" : .none
  }

  var csv: String {
    var text = CSVRecord.text(columns.map(\.title), .spreadsheet)
    for row in rows { text += CSVRecord.text(row.map(\.text), .spreadsheet) }
    return text
  }
}

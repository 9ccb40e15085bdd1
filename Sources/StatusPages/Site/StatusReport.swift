package import StatusModel

/// The pages of a status as one HTML file that needs nothing else.
package enum StatusReport {
  /// - Throws: `EncodingError`.
  package static func document(_ status: StoreStatus) throws -> String {
    let pages: [(name: String, page: Page)] = [
      ("overview", try .overview(status)), ("feeds", try .feeds(status, status.feeds, from: 0)),
      ("runs", try .runs(status)), ("jobs", try .jobs(status, actions: .none)),
      ("store", try .store(status)), ("fetches", try .fetches(status)), ("log", try .log(status)),
    ]
    let links = HTML(pages.map { "<a href=\"#\($0.name)\">\($0.page.title)</a>\n" })
    let parts = HTML(
      pages.map { name, page in
        "<section id=\"\(name)\"><h1>\(page.title)</h1>\(page.main { _ in "" })</section>\n"
      })
    // The style sheet is a constant without the characters of markup, except for `>`.
    let style = HTML(verbatim: Assets.style)
    let document: HTML = """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8"/><title>Mooring, \(Times.exact(status.at))</title>
      <meta name="viewport" content="width=device-width, initial-scale=1"/>
      <meta name="color-scheme" content="light dark"/>
      <meta http-equiv="Content-Security-Policy" \
      content="default-src 'none'; style-src 'unsafe-inline'"/><style>\(style)</style></head>
      <body><header><nav aria-label="Sections">\(links)</nav></header>
      <main><p class="muted">\(status.folder), \(Times.exact(status.at))</p>\(parts)</main></body>
      </html>

      """
    return withoutLinks(document.text)
  }

  /// Removes the links to other pages of the server, and to files, which a report does not have.
  private static func withoutLinks(_ text: String) -> String {
    text.replacing(#/\ <a class="file" href="[^"]*">CSV</a>/#, with: "")
      .replacing(#/\ href="/(feeds|runs|jobs|store|fetches|log)(\#[a-z]+)?"/#) {
        " href=\"#\($0.output.1)\""
      }
      .replacing(#/\ href="/[^"]*"/#, with: "")
  }
}

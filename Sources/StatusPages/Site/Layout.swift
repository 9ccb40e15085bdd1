import Console

/// The frame of a page.
enum Layout {
  private static let sections = [
    ("/", "Overview"), ("/feeds", "Feeds"), ("/runs", "Runs"), ("/jobs", "Jobs"),
    ("/records", "Records"), ("/store", "Store"), ("/fetches", "Fetches"), ("/log", "Log"),
  ]

  /// - Parameter json: The URL of the page as JSON.
  static func document(_ title: String, _ main: HTML, path: String, json: String) -> HTML {
    let links = HTML(
      sections.map { target, name -> HTML in
        let isCurrent = target == "/" ? path == "/" : path.hasPrefix(target)
        let current: HTML = isCurrent ? " aria-current=\"page\"" : .none
        return "<a href=\"\(target)\"\(current)>\(name)</a>\n"
      })
    return """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8"/><title>\(title) · Mooring</title>
      <meta name="viewport" content="width=device-width, initial-scale=1"/>
      <meta name="color-scheme" content="light dark"/>
      <link rel="icon" href="/favicon.ico"/><link rel="stylesheet" href="/style.css"/>
      <script src="/script.js" defer="defer"></script></head>
      <body><header><nav aria-label="Sections">\(links)</nav></header>
      <main><h1>\(title)</h1><div id="content">\(main)</div></main>
      <footer><a href="\(json)">JSON</a> <span id="live" role="status"></span>
      Mooring \(Version.text)</footer></body></html>

      """
  }
}

import LoopbackHTTP
import SystemSupport
import TextFormats

/// The HTTP face: the home feed, its controls, and a folder of files.
final class FeedService: Sendable {
  private let history: Locked<FeedHistory>
  private let pageSize: Int
  private let folder: FileFolder?
  private let recordings: RecordedAnswers?

  /// Items on a page at most, however many are asked for.
  static let largestPage = 1_000
  /// Items that one advance may touch, so that a typing error does not fill the memory.
  static let largestAdvance = 1_000_000

  init(
    history: FeedHistory, pageSize: Int, folder: FileFolder?, recordings: RecordedAnswers? = nil
  ) {
    self.history = Locked(history)
    self.pageSize = pageSize
    self.folder = folder
    self.recordings = recordings
  }

  func handle(_ request: Request, _ connection: Connection) throws {
    try connection.send(answer(to: request))
  }

  func answer(to request: Request) -> Response {
    switch request.path {
    case "/v1/home": reading(request) { home($0) }
    case "/control/advance": posting(request) { advance($0) }
    case "/control/forget": posting(request) { _ in control { $0.forget() } }
    case "/control/replace": posting(request) { _ in control { $0.replace() } }
    default: reading(request) { recording($0) ?? file($0) }
    }
  }

  private func reading(_ request: Request, _ answer: (Request) -> Response) -> Response {
    guard ["GET", "HEAD"].contains(request.method) else { return .notAllowed("GET, HEAD") }
    return answer(request)
  }

  private func posting(_ request: Request, _ answer: (Request) -> Response) -> Response {
    guard request.method == "POST" else { return .notAllowed("POST") }
    return answer(request)
  }

  // MARK: The home feed

  private func home(_ request: Request) -> Response {
    guard let limit = request.count("limit", default: pageSize), limit > 0 else {
      return .failure(400, "limit must be a number from 1 on")
    }
    let question = FeedPages.Question(
      limit: min(limit, Self.largestPage), since: request.queryValue("since"),
      cursor: request.queryValue("cursor"))
    // A copy is consistent and lets the feed go on while the page is written.
    switch FeedPages.answer(to: question, from: history.withLock { $0 }) {
    case .badRequest(let why):
      return .failure(400, why)
    case .resync:
      return .failure(410, "resync")
    case .unchanged(let checkpoint, let entityTag):
      let headers = headers(entityTag) + [("Homefeed-Checkpoint", checkpoint)]
      return Response(status: 204, headers: headers)
    case .page(let body, let entityTag, let next):
      var headers = headers(entityTag)
      if request.isSatisfied(by: entityTag) { return Response(status: 304, headers: headers) }
      headers.append(("Content-Type", "application/vnd.homefeed+json;version=1"))
      if let next { headers.append(("Link", "<\(next)>; rel=\"next\"")) }
      return Response(headers: headers, body: body())
    }
  }

  private func headers(_ entityTag: String) -> [(String, String)] {
    [
      ("ETag", entityTag), ("Cache-Control", "private, max-age=\(FeedPages.timeToLive)"),
      ("Vary", "Accept-Encoding, Accept-Language, Authorization"),
    ]
  }

  // MARK: Controls

  private func advance(_ request: Request) -> Response {
    let names = ["changed", "added", "deleted", "restored"]
    for (name, _) in request.query where !names.contains(name) {
      return .failure(400, "unknown parameter \(name): use \(names.joined(separator: ", "))")
    }
    let counts = names.compactMap { request.count($0, default: 0) }
    guard counts.count == names.count, counts.allSatisfy({ $0 <= Self.largestAdvance }) else {
      return .failure(400, "counts must be numbers from 0 to \(Self.largestAdvance)")
    }
    let wanted = FeedHistory.Advance(
      changed: counts[0], added: counts[1], deleted: counts[2], restored: counts[3])
    return control { $0.advance(by: wanted) }
  }

  private func control(_ change: (inout FeedHistory) -> Void) -> Response {
    control { history -> FeedHistory.Advance in
      change(&history)
      return FeedHistory.Advance()
    }
  }

  private func control(_ change: (inout FeedHistory) -> FeedHistory.Advance) -> Response {
    let (done, now) = history.withLock { history in (change(&history), history) }
    var writer = JSONWriter()
    writer.object { writer in
      writer.number("version", now.version)
      writer.string("epoch", now.epoch)
      writer.number("items", now.liveCount)
      writer.number("changed", done.changed)
      writer.number("added", done.added)
      writer.number("deleted", done.deleted)
      writer.number("restored", done.restored)
    }
    return .json(200, writer.bytes)
  }

  // MARK: Recorded answers

  private func recording(_ request: Request) -> Response? {
    let origin = "http://" + (request.header("Host") ?? "127.0.0.1")
    guard let answer = recordings?.answer(to: request.target, origin: origin) else { return nil }
    func header(_ name: String) -> String? {
      answer.headers.first { $0.0.lowercased() == name }?.1
    }
    let modified = header("last-modified")
    let tag = header("etag").map(weakless)
    if answer.status == 200, tag != nil || modified != nil,
      request.isSatisfied(by: tag ?? "", modified: modified)
    {
      return Response(status: 304, headers: answer.headers)
    }
    return answer
  }

  // MARK: Files

  private func file(_ request: Request) -> Response {
    guard let folder else { return .failure(404, "not found") }
    switch folder.look(up: request.path) {
    case .missing:
      return .failure(404, "not found")
    case .folder(let names):
      return .index(of: names, at: request.path)
    case .file(let file):
      let headers = [("ETag", file.entityTag), ("Last-Modified", file.lastModified)]
      if request.isSatisfied(by: file.entityTag, modified: file.lastModified) {
        return Response(status: 304, headers: headers)
      }
      return Response(headers: headers + [("Content-Type", file.contentType)], body: file.bytes)
    }
  }
}

/// A tag as it is compared: weak or not (RFC 9110, section 8.8.3.2).
private func weakless(_ tag: String) -> String {
  tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag
}

extension Request {
  /// A number from 0 on in the query; the default if it is not there, nil if it is none.
  fileprivate func count(_ name: String, default number: Int) -> Int? {
    guard let text = queryValue(name) else { return number }
    return Int(text).flatMap { $0 >= 0 ? $0 : nil }
  }

  /// Returns true if the client has this representation (RFC 9110 section 13.2.2: If-None-Match
  /// counts, and only without it If-Modified-Since, which is compared as text because it must be
  /// the Last-Modified that we sent).
  fileprivate func isSatisfied(by entityTag: String, modified: String? = nil) -> Bool {
    let given = headers.filter { $0.name.lowercased() == "if-none-match" }
    guard given.isEmpty else {
      let tags = given.flatMap { $0.value.split(separator: ",") }.map { tag in
        weakless(String(tag.drop { $0 == " " }.prefix { $0 != " " }))
      }
      return tags.contains { $0 == entityTag || $0 == "*" }
    }
    return modified != nil && header("If-Modified-Since") == modified
  }
}

extension Response {
  fileprivate static func json(_ status: Int, _ body: [UInt8]) -> Response {
    Response(status: status, headers: [("Content-Type", "application/json")], body: body)
  }

  fileprivate static func failure(_ status: Int, _ error: String) -> Response {
    var writer = JSONWriter()
    writer.object { $0.string("error", error) }
    return json(status, writer.bytes)
  }

  fileprivate static func notAllowed(_ methods: String) -> Response {
    var response = failure(405, "method not allowed")
    response.headers.append(("Allow", methods))
    return response
  }

  /// A plain page with a link for each name of a folder.
  fileprivate static func index(of names: [String], at path: String) -> Response {
    let base = path.hasSuffix("/") ? path : path + "/"
    let links = names.map { name in
      "<li><a href=\"\(escaped(encoded(base + name)))\">\(escaped(name))</a></li>\n"
    }
    let page =
      "<!doctype html>\n<meta charset=\"utf-8\">\n<title>\(escaped(path))</title>\n"
      + "<ul>\n\(links.joined())</ul>\n"
    return Response(headers: [("Content-Type", "text/html; charset=utf-8")], text: page)
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
  }

  private static func encoded(_ path: String) -> String {
    path.utf8.map { byte in
      let scalar = Unicode.Scalar(byte)
      let isPlain =
        scalar.isASCII
        && (scalar.properties.isAlphabetic || "0"..."9" ~= scalar
          || "/-._~".unicodeScalars.contains(scalar))
      let digits = String(byte, radix: 16, uppercase: true)
      return isPlain ? String(scalar) : "%\(digits.count == 1 ? "0" : "")\(digits)"
    }.joined()
  }
}

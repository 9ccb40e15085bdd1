import Foundation
import LoopbackHTTP

/// Answers of other servers that were recorded: each a body in one file, and beside it a
/// description, `NAME.meta.json`, with the request's `path`, the `status` and the `headers`.
///
/// An answer is given to the request that it was recorded for, whatever the order of its query.
/// URLs of the recorded server in a body are replaced by those of this server.
struct RecordedAnswers: Sendable {
  private struct Description: Decodable {
    var path: String
    var status: Int
    var headers: [String: String]?
  }

  private static let suffix = ".meta.json"
  private static let answersMax = 10_000
  private static let bytesMax = 64 << 20
  /// The headers of the connection, of the coding or of the time of the recording.
  private static let left: Set<String> = [
    "connection", "keep-alive", "transfer-encoding", "content-encoding", "content-length", "date",
    "age", "set-cookie", "strict-transport-security",
  ]

  private var answers: [String: Response] = [:]

  var count: Int { answers.count }

  /// Reads a folder with all below it. Of two answers to one request the first by name counts.
  ///
  /// - Throws: `CocoaError` and `DecodingError` for files that are not as described.
  init(folder: String) throws {
    let root = URL(fileURLWithPath: folder, isDirectory: true)
    let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
    let descriptions = (files?.compactMap { $0 as? URL } ?? [])
      .filter { $0.lastPathComponent.hasSuffix(Self.suffix) }
      .sorted { $0.path < $1.path }
    for file in descriptions.prefix(Self.answersMax) {
      let description = try JSONDecoder().decode(Description.self, from: Self.read(file))
      let key = Self.key(description.path)
      guard answers[key] == nil else { continue }
      let body = URL(fileURLWithPath: file.path.replacing(Self.suffix, with: ".json"))
      answers[key] = Response(
        status: description.status,
        headers: (description.headers ?? [:]).filter { !Self.left.contains($0.key.lowercased()) }
          .sorted { $0.key < $1.key },
        body: FileManager.default.fileExists(atPath: body.path) ? Array(try Self.read(body)) : [])
    }
  }

  private static func read(_ file: URL) throws -> Data {
    let data = try Data(contentsOf: file)
    guard data.count <= bytesMax else { throw CocoaError(.fileReadTooLarge) }
    return data
  }

  /// - Parameter target: Of the request, as it was sent.
  /// - Parameter origin: Of this server.
  func answer(to target: String, origin: String) -> Response? {
    guard var answer = answers[Self.key(target)] else { return nil }
    answer.body = Array(rewritten(String(decoding: answer.body, as: UTF8.self), origin).utf8)
    answer.headers = answer.headers.map { name, value in
      (name, name.lowercased() == "link" ? rewritten(value, origin) : value)
    }
    return answer
  }

  /// With this server in the URLs for which it has an answer.
  private func rewritten(_ text: String, _ origin: String) -> String {
    text.replacing(/https?:\/\/[A-Za-z0-9.:-]+(\/[^"<>\s\\]*)/) { match in
      answers[Self.key(String(match.1))] == nil ? String(match.0) : origin + match.1
    }
  }

  /// The path and the sorted parts of its query, as they were sent but for their escapes.
  private static func key(_ target: String) -> String {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let query = parts.count == 2 ? parts[1].split(separator: "&").map(plain).sorted() : []
    return plain(parts[0]) + "?" + query.joined(separator: "&")
  }

  private static func plain(_ text: Substring) -> String {
    String(text).removingPercentEncoding ?? String(text)
  }
}

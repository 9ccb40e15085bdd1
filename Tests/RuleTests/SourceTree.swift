import Dispatch
import Foundation
import SystemSupport

/// A source file of the repository, read and split once.
struct SourceFile: Sendable {
  /// The path from the root of the repository, as in `Sources/LMDB/Cursor.swift`.
  let path: String
  let bytes: [UInt8]
  /// Empty for files that are not Swift.
  let tokens: [Token]
  let docComments: [DocComment]
  let longLiteralLines: Set<Int>
  let lineCount: Int

  init(path: String, bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
    lineCount = bytes.count { $0 == UInt8(ascii: "\n") }
    let lexer = path.hasSuffix(".swift") ? SwiftLexer(bytes) : SwiftLexer([])
    tokens = lexer.tokens
    docComments = lexer.docComments
    longLiteralLines = lexer.longLiteralLines
  }

  /// `Sources`, `Tools` or `Tests`.
  var area: String { component(0) }
  /// The folder below the area, which is the module, or the script itself.
  var module: String { component(1) }
  /// The folders between the module and the file.
  var folders: [String] { path.split(separator: "/").dropFirst(2).dropLast().map(String.init) }
  var name: String { String(path.split(separator: "/").last ?? "") }
  var isSwift: Bool { path.hasSuffix(".swift") }

  private func component(_ index: Int) -> String {
    let parts = path.split(separator: "/")
    return index < parts.count ? String(parts[index]) : ""
  }
}

/// The Swift and C sources and the scripts below `Sources`, `Tools` and `Tests`.
struct SourceTree: Sendable {
  let files: [SourceFile]

  /// The folder of the repository that contains this file.
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static let repository = SourceTree(root: root)

  init(_ texts: [String: String]) {
    files = texts.sorted { $0.key < $1.key }.map { SourceFile(path: $0, bytes: Array($1.utf8)) }
  }

  private init(root: URL) {
    let paths = ["Sources", "Tools", "Tests"].flatMap { Self.paths(below: $0, root: root) }
    let read = Locked<[SourceFile]>([])
    DispatchQueue.concurrentPerform(iterations: 8) { part in
      var files: [SourceFile] = []
      for index in stride(from: part, to: paths.count, by: 8) {
        guard let data = FileManager.default.contents(atPath: root.path + "/" + paths[index])
        else { continue }
        let isScript = data.starts(with: Array("#!".utf8))
        if isScript || Self.hasCode(paths[index]) {
          files.append(SourceFile(path: paths[index], bytes: Array(data)))
        }
      }
      read.withLock { $0 += files }
    }
    files = read.withLock { $0 }.sorted { $0.path < $1.path }
  }

  private static func paths(below area: String, root: URL) -> [String] {
    let found = FileManager.default.enumerator(atPath: root.path + "/" + area)
    var paths: [String] = []
    while let path = found?.nextObject() as? String {
      if path.contains(".build") {
        if path.hasSuffix(".build") { found?.skipDescendants() }
      } else if hasCode(path) || !path.contains(".") {
        paths.append(area + "/" + path)
      }
    }
    return paths
  }

  private static func hasCode(_ path: String) -> Bool {
    [".swift", ".c", ".h", ".cpp", ".hpp"].contains { path.hasSuffix($0) }
  }
}

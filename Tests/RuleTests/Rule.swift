/// A rule that the sources of the repository keep. The documentation names them in Architecture.
enum Rule: String, CaseIterable, Sendable {
  case imports, folderCycles, fileLength, columns, docComments, terms, smallFiles, locks

  /// Returns a line for each place that breaks the rule, by the name of the module.
  func violations(in tree: SourceTree) -> [String: [String]] {
    switch self {
    case .imports: ImportTable.violations(in: tree)
    case .folderCycles: Self.folderCycles(in: tree)
    case .fileLength:
      Self.files(of: tree) { $0.lineCount > 400 ? ["\($0.path): \($0.lineCount) lines"] : [] }
    case .columns: Self.files(of: tree, WrittenText.longLines)
    case .docComments: Self.files(of: tree, WrittenText.docCommentOpenings)
    case .terms: Self.files(of: tree, ExcludedTerms.glossary.uses)
    case .smallFiles: Self.files(of: tree, SmallFiles.violations)
    case .locks: Self.files(of: tree, Self.unseenLocks)
    }
  }

  private static func files(
    of tree: SourceTree, _ check: (SourceFile) -> [String]
  ) -> [String: [String]] {
    var found: [String: [String]] = [:]
    for file in tree.files {
      let lines = check(file)
      if !lines.isEmpty { found[file.module, default: []] += lines }
    }
    return found
  }

  /// Locks that the thread sanitizer does not see: it reports what they protect as races. The
  /// packages of their own do not run under it, and cannot make a `Locked`; one of them has a link
  /// to `Replay`.
  private static func unseenLocks(in file: SourceFile) -> [String] {
    if ImportTable.packages.contains(file.module) || file.folders.first == "Replay" { return [] }
    return file.tokens.filter { $0.word == "Mutex" }
      .map { "\(file.path):\($0.line): Mutex; Locked is the one that the thread sanitizer sees" }
  }

  private static func folderCycles(in tree: SourceTree) -> [String: [String]] {
    let files = tree.files.filter { $0.isSwift && $0.area != "Tests" }
    return Dictionary(grouping: files, by: \.module)
      .mapValues { FolderGraph($0).cycles }
      .filter { !$0.value.isEmpty }
  }
}

/// The migrations that certainly precede a migration, derived from the requirements of the files.
struct LintReach {
  let migrations: [Migration]

  /// Returns true if a version of a line precedes the migration.
  func has(_ line: String, _ version: Int, from migration: Migration) -> Bool {
    (reached(from: migration)[line] ?? 0) >= version
  }

  func hasFiles(of line: String) -> Bool { migrations.contains { $0.line == line } }

  /// Returns true if a file of one line requires the other line, directly or through other lines.
  func requires(_ line: String, _ other: String) -> Bool {
    migrations.filter { $0.line == line }.contains { reached(from: $0)[other] != nil }
  }

  private func reached(from migration: Migration) -> [String: Int] {
    var reached: [String: Int] = [:]
    var queue = migration.requires
    queue.append(.init(line: migration.line, version: migration.version - 1))
    while let next = queue.popLast() {
      let before = reached[next.line] ?? 0
      guard next.version > before else { continue }
      reached[next.line] = next.version
      for file in migrations
      where file.line == next.line && file.version > before && file.version <= next.version {
        queue += file.requires
      }
    }
    return reached
  }
}

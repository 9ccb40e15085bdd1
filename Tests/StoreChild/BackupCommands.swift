import EntityStore
import Glibc
import Maintenance
import Migrations
import TestSupport

/// Commands that copy a store, or write while it is copied. Each prints a line when it is ready,
/// and begins when it reads one.
///
/// - Returns: `false` if the command is not one of them.
func runBackupCommand(_ arguments: [String]) async throws -> Bool {
  guard arguments.count >= 2, arguments[0].hasPrefix("backup-") else { return false }
  let folder = arguments[1]
  switch (arguments[0], arguments.count) {
  case ("backup-write-on", 2): try await writeOn(folder)
  case ("backup-make", 3):
    try begin { _ = try openToRead(folder).backUp(to: arguments[2]) }
  case ("backup-compact", 2): try begin { _ = try Store.compact(at: folder) }
  case ("backup-restore", 3):
    try begin { _ = try Store.restore(from: arguments[2], to: folder) }
  default: return false
  }
  return true
}

private func begin(_ body: () throws -> Void) throws {
  say("ready")
  _ = readLine()
  try body()
  say("done")
}

private func openToRead(_ folder: String) throws -> Store {
  var options = Store.Options()
  options.isReadOnly = true
  return try Store.open(at: folder, options: options)
}

/// Adds rows, each in a commit, until standard input ends: 1,000, and 1,000 more for each line.
///
/// Without that limit a writer on a busy machine fills the map while a copy pins its snapshot.
private func writeOn(_ folder: String) async throws {
  let store = try openStore(at: folder, migrate: .never)
  say("ready")
  var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
  var rows = 0
  var rowsMax = 1_000
  while true {
    if poll(&input, 1, rows < rowsMax ? 0 : -1) > 0 {
      var byte: UInt8 = 0
      guard read(0, &byte, 1) == 1 else { return }
      if byte == UInt8(ascii: "\n") { rowsMax = rows + 1_000 }
    } else {
      try await Ledger.addRow(to: store)
      rows += 1
      // A test waits for these lines to see that rows are being written.
      if rows % 10 == 0 { say("\(rows)") }
    }
  }
}

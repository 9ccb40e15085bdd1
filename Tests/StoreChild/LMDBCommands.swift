import Glibc
import LMDB

/// Commands on a raw environment.
///
/// - Returns: `false` if the command is not one of them.
func runLMDBCommand(_ arguments: [String]) throws -> Bool {
  guard arguments.count >= 2, arguments[0].hasPrefix("lmdb-") else { return false }
  let folder = arguments[1]
  switch arguments[0] {
  case "lmdb-hold-reader":
    let environment = try Environment.open(at: folder)
    let transaction = try environment.beginRead()
    say("reading \(transaction.id)")
    _ = readLine()
    environment.endRead(transaction)
  default: return false
  }
  return true
}

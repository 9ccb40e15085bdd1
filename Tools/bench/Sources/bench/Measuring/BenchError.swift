import Foundation

/// Why a run ended without a table.
struct BenchError: Error, CustomStringConvertible {
  enum Code: Int32 {
    /// Candidates disagree, or a store answered wrongly.
    case mismatch = 65
    case outOfMemory = 71
    case noSpace = 73
    /// A candidate's own library failed.
    case candidate = 74
  }

  let code: Code
  let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}

/// Says how far the run has come.
func note(_ text: String) {
  FileHandle.standardError.write(Data("bench: \(text)\n".utf8))
}

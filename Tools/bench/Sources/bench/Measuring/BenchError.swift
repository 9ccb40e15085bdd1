import Foundation

/// The reason why a run ends without a table. Its code is the exit status of the process.
struct BenchError: Error, CustomStringConvertible {
  enum Code: Int32 {
    /// Two candidates gave different answers, or a store gave a wrong one.
    case mismatch = 65
    case outOfMemory = 71
    case noSpace = 73
    /// The library of a candidate failed.
    case candidate = 74
  }

  let code: Code
  let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}

/// Writes a line about the progress of the run to standard error.
func reportProgress(_ text: String) {
  FileHandle.standardError.write(Data("bench: \(text)\n".utf8))
}

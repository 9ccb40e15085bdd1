import Foundation

/// A library that is preloaded into a process and makes its writes fail.
public struct FaultShim: Sendable {
  public struct NotBuilt: Error, CustomStringConvertible { public let description: String }

  private let library: String
  /// The file in which a process with `MOORING_FAULT_COUNT` counts its calls.
  public let counted: String

  /// - Returns: `nil` without a C compiler.
  public init?(in folder: TemporaryFolder) throws {
    library = folder.path("fault_shim.so")
    counted = folder.path("calls")
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/cc") else { return nil }
    var source = URL(fileURLWithPath: #filePath)
    for _ in 0..<2 { source.deleteLastPathComponent() }
    source.appendPathComponent("FaultShim/fault_shim.c")
    let compiler = try ChildProcess(
      URL(fileURLWithPath: "/usr/bin/cc"),
      ["-shared", "-fPIC", "-O1", "-o", library, source.path, "-ldl"])
    guard compiler.waitForExit().status == 0 else {
      throw NotBuilt(description: compiler.readErrors())
    }
  }

  /// - Parameter number: The `errno` of the call that fails; below 0, the signal that the process
  ///   gets.
  public func environment(call: Int, number: Int32, stays: Bool, of path: String) -> [String:
    String]
  {
    [
      "LD_PRELOAD": library, "MOORING_FAULT_FOLDER": path, "MOORING_FAULT_CALL": "\(call)",
      "MOORING_FAULT_ERROR": "\(number)", "MOORING_FAULT_STAYS": stays ? "1" : "0",
    ]
  }
}

import Foundation

/// A C library of `Tests/FaultShim`, built for a test that preloads it into a process.
public struct PreloadedLibrary: Sendable {
  public struct NotBuilt: Error, CustomStringConvertible { public let description: String }

  public let path: String

  /// Builds `name.c`.
  ///
  /// - Returns: `nil` without a C compiler.
  public init?(_ name: String, in folder: TemporaryFolder) throws {
    path = folder.path("\(name).so")
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/cc") else { return nil }
    var source = URL(fileURLWithPath: #filePath)
    for _ in 0..<2 { source.deleteLastPathComponent() }
    source.appendPathComponent("FaultShim/\(name).c")
    let compiler = try ChildProcess(
      URL(fileURLWithPath: "/usr/bin/cc"),
      ["-shared", "-fPIC", "-O1", "-o", path, source.path, "-ldl"])
    guard compiler.waitForExit().status == 0 else {
      throw NotBuilt(description: compiler.readErrors())
    }
  }
}

/// A library that is preloaded into a process and makes its writes fail.
public struct FaultShim: Sendable {
  private let library: PreloadedLibrary
  /// The file in which a process with `MOORING_FAULT_COUNT` counts its calls.
  public let counted: String

  /// - Returns: `nil` without a C compiler.
  public init?(in folder: TemporaryFolder) throws {
    guard let library = try PreloadedLibrary("fault_shim", in: folder) else { return nil }
    self.library = library
    counted = folder.path("calls")
  }

  /// - Parameter number: The `errno` of the call that fails; below 0, the signal that the process
  ///   gets.
  public func environment(call: Int, number: Int32, stays: Bool, of path: String) -> [String:
    String]
  {
    [
      "LD_PRELOAD": library.path, "MOORING_FAULT_FOLDER": path, "MOORING_FAULT_CALL": "\(call)",
      "MOORING_FAULT_ERROR": "\(number)", "MOORING_FAULT_STAYS": stays ? "1" : "0",
    ]
  }
}

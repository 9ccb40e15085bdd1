/// What a command refuses by itself.
public struct CommandError: ExitStatusProviding, CustomStringConvertible {
  public let exitStatus: ExitStatus
  public let description: String

  /// - Parameter description: One line: what is wrong, and what to do.
  public init(_ status: ExitStatus, _ description: String) {
    exitStatus = status
    self.description = description
  }
}

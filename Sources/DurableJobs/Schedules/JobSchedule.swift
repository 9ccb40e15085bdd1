public import Foundation

/// Jobs that are made again and again: what, and when.
public struct JobSchedule: Sendable {
  /// By which it is found; 1 to 64 letters, digits, dots, dashes and underscores.
  public let name: String
  public var recurrence: Recurrence
  /// What is enqueued each time. Its `runAt` is the time of the run.
  public var request: JobRequest
  /// Whether a run may begin before the last one has ended. Otherwise such a time is passed over.
  public var overlaps: Bool
  public var isPaused = false
  /// Why it was paused, if nobody has asked for it: what is stored cannot be read any more.
  public internal(set) var error: String?
  /// When the next job is made; `nil` if none is any more.
  public internal(set) var nextAt: Date?
  public internal(set) var lastAt: Date?
  public internal(set) var lastJob: JobID?

  public init(
    _ name: String, _ recurrence: Recurrence, _ request: JobRequest, overlaps: Bool = false
  ) {
    self.name = name
    self.recurrence = recurrence
    self.request = request
    self.overlaps = overlaps
  }
}

/// A value that describes work to be done.
///
/// The value is stored as JSON in the same store as the data that it is about. The handler that
/// does the work is registered with a runner (`JobHandlers`), in this process or in another one.
///
/// ```swift
/// struct FetchArtwork: Job {
///   typealias Output = NoOutput
///   static let kind: JobKind = "artwork.fetch"
///   let episode: Int64
///   var uniqueKey: String? { "\(episode)" }
/// }
/// ```
///
/// A job runs at least once. What its handler writes through `JobContext.complete` is written once.
public protocol Job: Codable, Sendable {
  /// The result of the handler, stored with the job until the job is removed.
  associatedtype Output: Codable & Sendable = NoOutput
  /// The stored name of the type. It must not change when the type is renamed.
  static var kind: JobKind { get }
  /// The default is the queue `default` and twenty attempts.
  static var policy: JobPolicy { get }
  /// While a job of this kind with this key is unfinished (`JobPolicy.uniqueness`), no second one
  /// is enqueued. The default is `nil`: any number of jobs.
  var uniqueKey: String? { get }
  /// A limit on the jobs that run at once. The default is `nil`.
  var limit: JobLimit? { get }
}

extension Job {
  public static var policy: JobPolicy { JobPolicy() }
  public var uniqueKey: String? { nil }
  public var limit: JobLimit? { nil }
}

/// The output of a job without a result.
public struct NoOutput: Codable, Hashable, Sendable {
  public init() {}
}

/// The most jobs with the same key that run at once, of any kind and in any queue.
public struct JobLimit: Hashable, Sendable {
  public var key: String
  public var max: Int

  public init(_ key: String, max: Int = 1) {
    self.key = key
    self.max = max
  }
}

/// The progress of a job.
public struct JobProgress: Hashable, Sendable, Codable {
  public var done: Int64?
  /// `nil` while the total is unknown.
  public var total: Int64?
  public var note: String?

  /// The part that is done, in 0 ... 1; `nil` if one of the numbers is unknown.
  public var fraction: Double? {
    guard let done, let total, total > 0 else { return nil }
    return min(1, max(0, Double(done) / Double(total)))
  }
}

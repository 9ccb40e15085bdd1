/// Work that is described by a value: what is to be done, not how.
///
/// The value is stored as JSON in the store, together with the data that it is about; who does the
/// work is registered with a runner (`JobHandlers`), in this process or in another one.
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
  /// What comes out of it, kept with the job as long as the job.
  associatedtype Output: Codable & Sendable = NoOutput
  /// A name that stays when the type is renamed.
  static var kind: JobKind { get }
  /// By default a job of the queue `default` that is tried twenty times.
  static var policy: JobPolicy { get }
  /// While a job of this kind with this key is unfinished (`JobPolicy.uniqueness`), no other one is
  /// made. By default none: any number.
  var uniqueKey: String? { get }
  /// By default none.
  var limit: JobLimit? { get }
}

extension Job {
  public static var policy: JobPolicy { JobPolicy() }
  public var uniqueKey: String? { nil }
  public var limit: JobLimit? { nil }
}

/// What comes out of a job that has nothing to tell.
public struct NoOutput: Codable, Hashable, Sendable {
  public init() {}
}

/// No more than so many jobs with the same key run at once, whatever their kind and queue.
public struct JobLimit: Hashable, Sendable {
  public var key: String
  public var max: Int

  public init(_ key: String, max: Int = 1) {
    self.key = key
    self.max = max
  }
}

/// How far a job has come.
public struct JobProgress: Hashable, Sendable, Codable {
  public var done: Int64?
  /// `nil` while that is not known.
  public var total: Int64?
  public var note: String?

  /// In 0 ... 1.
  public var fraction: Double? {
    guard let done, let total, total > 0 else { return nil }
    return min(1, max(0, Double(done) / Double(total)))
  }
}

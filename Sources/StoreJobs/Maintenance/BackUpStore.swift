public import DurableJobs
import EntityModel
import EntityStore
public import Foundation
import Maintenance
import Migrations

/// Copies the last commit of the store to a folder (`Store.backUp`), while others read and write.
/// At most one backup to a folder is unfinished at a time.
///
/// A copy at the path is always complete. A cancelled or failed backup leaves nothing; an
/// interrupted one begins again, or succeeds if the copy was complete. The job is discarded if the
/// folder has other content.
public struct BackUpStore: Job, Hashable {
  public static let kind: JobKind = "store.backup"
  public static let policy = JobPolicy(
    queue: .maintenance, attemptsMax: 5, isBoundToMachine: true)

  /// The backup that was made.
  public struct Output: Codable, Hashable, Sendable {
    public var path: String
    public var bytes: Int
    public var storeID: UUID
  }

  /// An absolute path on the machine of the runner. The folder must not exist, or be empty.
  public var folder: String
  /// True to leave out free pages: a smaller copy for more processor time.
  public var isCompacting: Bool

  public init(to folder: String, isCompacting: Bool = false) {
    self.folder = folder
    self.isCompacting = isCompacting
  }

  /// Decodes a payload, in which only `folder` is required.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    folder = try container.decode(String.self, forKey: .folder)
    isCompacting = try container.value(.isCompacting, otherwise: false)
  }

  public var uniqueKey: String? { PathKey.of(folder) }
}

extension BackUpStore {
  /// Blocks.
  func run(_ context: JobContext) throws -> Output {
    guard folder.hasPrefix("/") else {
      throw JobStop.discard(because: "\"\(folder)\" is no path from the root; write /…/\(folder)")
    }
    do {
      let report = try context.store.backUp(to: folder, compacting: isCompacting) { progress in
        try context.checkCancellation()
        context.report(progress)
      }
      context.store.record(report)
      return Output(path: report.path, bytes: report.bytes, storeID: report.storeID)
    } catch let error as StoreError where error.code == .occupied {
      guard let made = try backup(of: context) else { throw JobStop.verdict(on: error) }
      return made
    } catch {
      throw JobStop.verdict(on: error)
    }
  }

  /// Returns the copy that an interrupted attempt of this job has completed: the job is running in
  /// it.
  private func backup(of context: JobContext) throws -> Output? {
    var options = Store.Options()
    options.isReadOnly = true
    let copy: Store
    do {
      copy = try Store.open(at: folder, options: options)
    } catch let error as StoreError
      where error.isStorageFailure
      || [.storeMissing, .notAStore, .newerFormat].contains(error.code)
    {
      return nil
    }
    guard try copy.id == context.store.id,
      try JobQueue(copy).status(context.id)?.state == .running
    else { return nil }
    return Output(
      path: URL(fileURLWithPath: folder).standardizedFileURL.path,
      bytes: try copy.statistics().fileBytes, storeID: try copy.id)
  }
}

extension JobContext {
  func report(_ progress: CopyProgress) {
    switch progress {
    case .copying(let bytes, let total):
      report(done: Int64(bytes), of: Int64(total), note: "copying")
    case .checking(let bytes):
      report(done: Int64(bytes), of: Int64(bytes), note: "checking the copy")
    }
  }
}

public import DurableJobs
import EntityModel
public import EntityObjects
import EntityStore
import Foundation
import SystemSupport

/// Inserts the records of a file (`BatchInsertRequest`): JSON Lines, a JSON array, or CSV with a
/// header.
///
/// Each item is inserted once, whatever interrupts the job: the file must not change until the job
/// has ended. If an item is refused, the job is discarded and the items before it stay. After the
/// file was corrected from that item on, `JobQueue.retry` continues with it.
public struct InsertRecords: Job, Hashable {
  public typealias Output = BatchReport
  public static let kind: JobKind = "batch.insert"
  public static let policy = JobPolicy(attemptsMax: 5, isBoundToMachine: true)

  /// The action for an item whose unique values an existing record has.
  public enum Conflict: String, CaseIterable, Codable, Hashable, Sendable {
    case fail
    case skip
    /// Updates the existing record with the values of the item.
    case update
  }

  public var entity: String
  /// An absolute path on the machine of the runner.
  public var file: String
  public var onConflict: Conflict
  /// The attributes of one unique index, for `update`.
  public var by: [String]
  /// True to insert the other items if one is refused. The report counts and lists the refused
  /// ones.
  public var keepsGoing: Bool
  /// The options that are switched off.
  public var without: [BatchOption]
  /// The author of the changes in the history.
  public var author: String

  public init(
    _ entity: String, file: String, onConflict: Conflict = .fail, by: [String] = [],
    keepsGoing: Bool = false, without: [BatchOption] = [], author: String = "batch"
  ) {
    self.entity = entity
    self.file = file
    self.onConflict = onConflict
    self.by = by
    self.keepsGoing = keepsGoing
    self.without = without
    self.author = author
  }

  /// Decodes a payload, in which only `entity` and `file` are required.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    entity = try container.decode(String.self, forKey: .entity)
    file = try container.decode(String.self, forKey: .file)
    onConflict = try container.value(.onConflict, otherwise: .fail)
    by = try container.value(.by, otherwise: [])
    keepsGoing = try container.value(.keepsGoing, otherwise: false)
    without = try container.value(.without, otherwise: [])
    author = try container.value(.author, otherwise: "batch")
  }
}

extension InsertRecords {
  func run(_ context: JobContext, on threads: BoundedThreads) async throws -> BatchReport {
    let conflict = try conflict()
    let source: BatchFileItems
    do {
      source = BatchFileItems(try regularFile(), on: threads)
    } catch let error as BatchFileError {
      throw JobStop.discard(because: error.description)
    }
    let work = BatchWork(context: context, entity: entity, without: without, author: author)
    return try await work.run { [self] options, progress in
      let reader = BatchItemReader(
        try context.store.read { try $0.description(of: entity) })
      var request = BatchInsertRequest(
        entity, from: source, onConflict: conflict, options: options
      ) { reader.item($0, startedAt: $1) }
      if keepsGoing { request.itemErrors = .collect(max: Limits.problemsListedMax) }
      do {
        return try await context.store.execute(request, progress: progress)
      } catch let error as BatchFileError where error.code == .malformed {
        throw JobStop.discard(because: error.description)
      }
    }
  }

  /// Returns the file if it is a regular one. A pipe would block a thread until a process writes to
  /// it, and could not be read again.
  private func regularFile() throws -> BatchFile {
    guard file.hasPrefix("/") else {
      throw BatchFileError(.missing, "\"\(file)\" is no path from the root; write /…/\(file)")
    }
    let batch = try BatchFile(file)
    let type = try FileManager.default.attributesOfItem(
      atPath: URL(fileURLWithPath: file).resolvingSymlinksInPath().path)[.type]
    guard type as? FileAttributeType == .typeRegular else {
      throw BatchFileError(.unreadable, "\"\(file)\" is no regular file; write the items to one")
    }
    return batch
  }

  private func conflict() throws -> BatchInsertRequest.Conflict {
    switch onConflict {
    case .fail where by.isEmpty: return .fail
    case .skip where by.isEmpty: return .skip
    case .update where !by.isEmpty: return .update(by: by)
    case .update: throw JobStop.discard(because: "onConflict update needs attributes in by")
    case .fail, .skip:
      throw JobStop.discard(because: "by goes with onConflict update; leave it out")
    }
  }
}

import Foundation
import TestSupport

/// A recorded run of some work, whose power is lost at any moment.
struct PowerLoss: Sendable {
  /// One moment of a recording, and what is lost in it.
  struct Cut: Sendable {
    /// The number of events before it.
    let events: Int
    let loss: Loss
    fileprivate let random: SeededRandom
  }

  /// A cut after which something acknowledged is missing, or a store is damaged.
  struct Failure: Sendable, CustomStringConvertible {
    /// The index of the cut.
    let index: Int
    let description: String
  }

  let work: Work
  private let prepared: PreparedWork
  private let disk: Disk
  private let recording: Recording
  private let folder: TemporaryFolder

  /// Prepares the work, and records it.
  ///
  /// - Parameter flushes: False for stores that do not flush commits.
  /// - Returns: `nil` without a C compiler.
  /// - Throws: An error of the work, and if the recording does not explain what the folder
  ///   contains.
  init?(of work: Work, in folder: TemporaryFolder, flushes: Bool = true) async throws {
    guard let recorder = try Recorder(in: folder) else { return nil }
    (self.work, self.folder) = (work, folder)
    prepared = try await work.prepare(in: recorder.root, beside: folder)
    disk = try Disk(of: recorder.root)
    try await prepared.run(recorder, flushes ? ["flush=1"] : [])
    recording = try recorder.recording()
    var after = disk
    for event in recording.events { try after.apply(event) }
    let differences = try after.content.differences(from: recorder.root)
    guard differences.isEmpty else {
      throw Disk.Unexplained(description: "the recording does not explain \(differences)")
    }
  }

  private init(_ loss: PowerLoss, _ recording: Recording) {
    (work, prepared, disk) = (loss.work, loss.prepared, loss.disk)
    (self.recording, folder) = (recording, loss.folder)
  }

  var events: Int { recording.events.count }

  /// The same work on a disk that ignores flushes.
  var withoutFlushes: PowerLoss { PowerLoss(self, recording.withoutFlushes) }

  /// Draws the cut with a number. It depends on nothing else but the seed and the recording. The
  /// first one is the end of the recording.
  func cut(_ number: Int, seed: UInt64) -> Cut {
    if number == 0 { return end }
    var random = SeededRandom(seed: seed &* 1_000_003 &+ UInt64(number))
    // Every second one is anywhere, and these are spread evenly.
    let goldenRatio = 0.618_033_988_749_895
    let share = (Double(number) * goldenRatio).truncatingRemainder(dividingBy: 1)
    let events =
      number % 2 == 0 || recording.turningPoints.isEmpty
      ? Int(share * Double(recording.events.count + 1))
      : random.pick(random.pick(recording.turningPoints))
    return Cut(events: events, loss: Loss(using: &random), random: random)
  }

  /// The end, when everything is lost that was not flushed.
  var end: Cut { Cut(events: events, loss: .everything, random: SeededRandom(seed: 0)) }

  /// Checks what is on the disk after each cut.
  ///
  /// - Parameters:
  ///   - keepsImage: True to keep the image of the first failure, and to name its folder.
  ///   - judge: Returns what else is wrong in the image of a cut with an index, after its check.
  func failures(
    of cuts: [Cut], keepsImage: Bool,
    judge: (_ image: String, _ index: Int) throws -> [String] = { _, _ in [] }
  ) async throws -> [Failure] {
    var failures: [Failure] = []
    var disk = disk
    var acknowledged = Acknowledged()
    var done = 0
    for (index, cut) in cuts.enumerated().sorted(by: { $0.element.events < $1.element.events }) {
      for event in recording.events[done..<cut.events] {
        try disk.apply(event)
        acknowledged.add(event)
      }
      done = cut.events
      var random = cut.random
      let content = disk.content(after: cut.loss, using: &random)
      let problems = try await problems(of: content, acknowledged) { try judge($0, index) }
      if problems.isEmpty { continue }
      var text =
        "after event \(cut.events) of \(events); \(cut.loss); last acknowledged: "
        + "\(acknowledged.lines.suffix(2).map { $0.prefix(80) }); \(problems.prefix(3))"
      if keepsImage, failures.isEmpty { text += "; the image is \(try keep(content))" }
      failures.append(Failure(index: index, description: text))
    }
    return failures
  }

  /// Writes the content to a folder that stays.
  private func keep(_ content: DiskContent) throws -> String {
    let image = try TemporaryFolder(named: "mooring-power-loss").path("image")
    try content.write(to: image)
    return image
  }

  private func problems(
    of content: DiskContent, _ acknowledged: Acknowledged,
    _ judge: (_ image: String) throws -> [String]
  ) async throws -> [String] {
    let image = folder.path("image")
    try content.write(to: image)
    defer { removeImage(image) }
    do {
      return try await prepared.problems(image, acknowledged) + judge(image)
    } catch {
      return ["\(error)"]
    }
  }

  private func removeImage(_ image: String) {
    do {
      try FileManager.default.removeItem(atPath: image)
    } catch {
      print("cannot remove \(image): \(error)")
    }
  }
}

/// The lines that processes have written before a cut.
struct Acknowledged: Sendable {
  private(set) var lines: [String] = []
  /// The beginnings of lines, by process.
  private var pending: [UInt32: [UInt8]] = [:]

  fileprivate mutating func add(_ event: RecordedEvent) {
    guard case .output(let process, let bytes) = event else { return }
    var parts = (pending[process, default: []] + bytes)
      .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    pending[process] = parts.popLast().map { Array($0) }
    lines += parts.map { String(decoding: $0, as: UTF8.self) }
  }

  func contains(_ line: String) -> Bool { lines.contains(line) }

  /// The words of the lines that begin with a word, without it.
  func words(after first: String) -> [[String]] {
    lines.map { $0.split(separator: " ").map(String.init) }
      .filter { $0.first == first }.map { Array($0.dropFirst()) }
  }
}

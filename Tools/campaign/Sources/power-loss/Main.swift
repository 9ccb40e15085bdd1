import EntityStore
import Foundation
import TestSupport

/// Loses the power at moments of work that is recorded, until the time is over. Each round records
/// all work again and has a seed of its own.
@main struct Main {
  static func main() async {
    guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
      report("usage: power-loss [--minutes N] [--seed N] [--work NAME] [--judge PYTHON]")
      exit(64)
    }
    let end = ContinuousClock.now + .seconds(60 * options.minutes)
    var campaign = Campaign(options)
    var seed = options.seed
    repeat {
      for work in options.work {
        do {
          try await campaign.run(work, seed: seed)
        } catch {
          campaign.add(failure: "\(work), seed \(seed): \(error)")
        }
        fflush(nil)
      }
      print("seed \(seed): \(campaign.totals)")
      fflush(nil)
      seed += 1
    } while ContinuousClock.now < end
    exit(campaign.failures == 0 ? 0 : 1)
  }

  static func report(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
  }
}

/// The images that were checked, and what was found in them.
struct Campaign {
  private let options: Options
  private var images: [Work: Int] = [:]
  private var judged = 0
  private(set) var failures = 0

  init(_ options: Options) { self.options = options }

  var totals: String {
    let counts = Work.allCases.compactMap { work in images[work].map { "\(work) \($0)" } }
    return "\(images.values.reduce(0, +)) images, \(judged) of them judged, \(failures) failed"
      + " (\(counts.joined(separator: ", ")))"
  }

  mutating func add(failure: String) {
    failures += 1
    print("FAILED: \(failure)")
  }

  /// Records the work, and checks an image of each cut.
  mutating func run(_ work: Work, seed: UInt64) async throws {
    let folder = try TemporaryFolder(named: "mooring-power-loss")
    defer { folder.remove() }
    guard let loss = try await PowerLoss(of: work, in: folder) else {
      throw Unusable(description: "there is no C compiler")
    }
    let cuts = (0..<work.imagesPerRound).map { loss.cut($0, seed: seed) }
    var judged = 0
    let found = try await loss.failures(of: cuts, keepsImage: true) { image, index in
      guard let judge = options.judge, (index + Int(seed)) % Judge.images == 0 else { return [] }
      judged += 1
      return try judge.problems(ofStoresIn: image)
    }
    self.judged += judged
    images[work, default: 0] += cuts.count
    for failure in found {
      add(failure: "\(work), seed \(seed), image \(failure.index): \(failure)")
    }
  }
}

struct Unusable: Error, CustomStringConvertible { let description: String }

extension Work {
  /// Few images of stores that are large.
  fileprivate var imagesPerRound: Int {
    switch self {
    case .large: 40
    case .load: 80
    default: 200
    }
  }
}

/// The command `verify` of the Python package `lmdb`, which shares no code with the store.
struct Judge: Sendable {
  /// One of so many images is judged, because a process must start for it.
  static let images = 50
  let python: String

  /// Returns what is wrong with the data files in a folder.
  func problems(ofStoresIn image: String) throws -> [String] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: image)
    return try paths.filter { $0.hasSuffix("/data.mdb") }.flatMap { path -> [String] in
      let folder = URL(fileURLWithPath: "\(image)/\(path)").deletingLastPathComponent()
      let child = try ChildProcess(
        URL(fileURLWithPath: python), ["-m", "lmdb", "verify", "-e", folder.path])
      var lines: [String] = []
      while let line = child.readLine() { lines.append(line) }
      let exit = child.waitForExit()
      if exit.status == 0 { return [] }
      return ["the judge says of \(path): \(lines.suffix(5)) \(child.readErrors().suffix(300))"]
    }
  }
}

/// The options of a run.
struct Options {
  var minutes = 3.0
  var seed: UInt64 = 1
  var work = Work.allCases
  var judge: Judge?

  init?(_ arguments: [String]) {
    var words = arguments[...]
    while let name = words.popFirst() {
      guard let value = words.popFirst() else { return nil }
      switch name {
      case "--minutes":
        guard let number = Double(value), number >= 0 else { return nil }
        minutes = number
      case "--seed":
        guard let number = UInt64(value) else { return nil }
        seed = number
      case "--work":
        guard let one = Work(rawValue: value) else { return nil }
        work = [one]
      case "--judge": judge = Judge(python: value)
      default: return nil
      }
    }
  }
}

import Foundation
import Synchronization

/// Simulates weeks of workers with faults, each from a seed of its own.
@main struct Main {
  static func main() async {
    guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
      report("usage: simulation [--weeks N] [--seed N] [--length WEEKS] [--findings FOLDER]")
      exit(64)
    }
    var failures = 0
    var totals = Totals()
    for number in 0..<UInt64((options.weeks + options.length - 1) / options.length) {
      if await simulate(options.seed + number, options, &totals) == false { failures += 1 }
    }
    print(
      "\(totals.weeks) weeks, \(totals.steps) steps, \(totals.requests) requests, "
        + "\(totals.attempts) attempts, \(totals.rescued) rescued, \(failures) failed")
    exit(failures == 0 ? 0 : 1)
  }

  private struct Totals {
    var (weeks, steps, requests, attempts, rescued) = (0, 0, 0, 0, 0)
  }

  /// - Returns: False if an invariant does not hold.
  @Stage private static func simulate(
    _ seed: UInt64, _ options: Options, _ totals: inout sending Totals
  ) async -> Bool {
    let folder = "/dev/shm/mooring-simulation-\(getpid())-\(seed)"
    defer {
      remove(folder)
      fflush(nil)
    }
    do {
      let simulation = try Simulation(seed: seed, weeks: options.length, folder: folder)
      let world = simulation.world
      var failure: String?
      do {
        try await simulation.run()
      } catch {
        failure = "\(error)"
      }
      try FullDisk.set(false)
      let (attempts, rescued) = world.jobs.withLock { ($0.started, $0.rescued) }
      totals.weeks += options.length
      totals.steps += simulation.steps
      totals.requests += world.network.requests
      totals.attempts += attempts
      totals.rescued += rescued
      let hash = String(world.trace.hash, radix: 16)
      if failure == nil, options.keepsTraces { try keep(world, "no failure", options, seed) }
      guard let failure else {
        print(
          "seed \(seed): \(simulation.steps) steps, \(world.network.requests) requests, "
            + "\(attempts) attempts, trace \(hash)")
        return true
      }
      let heading = "seed \(seed), step \(simulation.steps): \(failure)"
      print("\(heading)\n  trace: \(try keep(world, heading, options, seed))")
    } catch {
      print("seed \(seed): \(error)")
    }
    return false
  }

  /// Writes the trace to a file.
  ///
  /// - Returns: Its path.
  @discardableResult
  private static func keep(
    _ world: World, _ heading: String, _ options: Options, _ seed: UInt64
  ) throws -> String {
    let path = "\(options.findings)/simulation-\(seed).txt"
    try FileManager.default.createDirectory(
      atPath: options.findings, withIntermediateDirectories: true)
    try world.trace.write(to: path, heading: heading)
    return path
  }

  private static func remove(_ folder: String) {
    do {
      try FileManager.default.removeItem(atPath: folder)
    } catch {
      report("cannot remove \(folder): \(error)")
    }
  }

  private static func report(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
  }
}

/// The options of a run.
struct Options {
  /// The weeks to simulate, all together.
  var weeks = 5
  /// The weeks of one simulation.
  var length = 1
  var seed: UInt64 = 1
  /// True to write the traces of simulations that do not fail, too.
  var keepsTraces = false
  /// The folder for the traces.
  var findings = ".build/findings"

  init?(_ arguments: [String]) {
    var words = arguments[...]
    while let name = words.popFirst() {
      guard let value = words.popFirst() else { return nil }
      switch (name, Int(value)) {
      case ("--weeks", let number?) where number > 0: weeks = number
      case ("--length", let number?) where number > 0: length = number
      case ("--seed", let number?) where number >= 0: seed = UInt64(number)
      case ("--findings", _): findings = value
      case ("--traces", _) where ["all", "failed"].contains(value): keepsTraces = value == "all"
      default: return nil
      }
    }
  }
}

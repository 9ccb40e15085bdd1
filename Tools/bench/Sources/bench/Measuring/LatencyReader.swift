import Dispatch
import Foundation
import Synchronization

/// A thread that reads in a loop and times each read.
final class LatencyReader: Sendable {
  private let isStopped = Atomic(false)
  private let outcome = Mutex<Result<[Double], any Error>>(.success([]))
  private let begun = DispatchSemaphore(value: 0)
  private let done = DispatchSemaphore(value: 0)

  /// Starts the thread and returns after its first read.
  init(_ read: @escaping @Sendable () throws -> Void) {
    Thread { [self] in
      let result = Result { try samples(of: read) }
      outcome.withLock { $0 = result }
      begun.signal()
      done.signal()
    }.start()
    begun.wait()
  }

  /// Ends the thread and waits for it. May be called once.
  ///
  /// - Returns: The seconds that each completed read took.
  /// - Throws: The error of the first read that failed.
  func stop() throws -> Percentiles {
    isStopped.store(true, ordering: .relaxed)
    done.wait()
    return Percentiles(try outcome.withLock { $0 }.get())
  }

  private func samples(of read: () throws -> Void) throws -> [Double] {
    var samples: [Double] = []
    while !isStopped.load(ordering: .relaxed) {
      let start = ContinuousClock.now
      try read()
      samples.append((ContinuousClock.now - start).seconds)
      if samples.count == 1 { begun.signal() }
    }
    return samples
  }
}

/// The percentiles of some samples; NaN if there are none.
struct Percentiles {
  private let sorted: [Double]

  init(_ samples: [Double]) { sorted = samples.sorted() }

  var isEmpty: Bool { sorted.isEmpty }
  var count: Int { sorted.count }
  var longest: Double { sorted.last ?? .nan }

  /// Returns a percentile of the samples.
  ///
  /// - Parameter share: 0.99 for the 99th percentile.
  func at(_ share: Double) -> Double {
    sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }
}

/// Returns how many seconds `body` takes on the monotonic clock.
func seconds(_ body: () async throws -> Void) async rethrows -> Double {
  let clock = ContinuousClock()
  let start = clock.now
  try await body()
  return (clock.now - start).seconds
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}

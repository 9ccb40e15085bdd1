import Dispatch
import Foundation
import Synchronization

/// A thread that reads in a loop, and how long each read takes.
final class LatencyReader: Sendable {
  private let isStopped = Atomic(false)
  private let outcome = Mutex<Result<[Double], any Error>>(.success([]))
  private let begun = DispatchSemaphore(value: 0)
  private let done = DispatchSemaphore(value: 0)

  /// Returns after the first read.
  init(_ read: @escaping @Sendable () throws -> Void) {
    Thread { [self] in
      let result = Result { try samples(of: read) }
      outcome.withLock { $0 = result }
      begun.signal()
      done.signal()
    }.start()
    begun.wait()
  }

  /// Ends the thread. To be called once.
  ///
  /// - Returns: Seconds of the reads that came to their end.
  /// - Throws: What a read has thrown.
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

struct Percentiles {
  private let sorted: [Double]

  init(_ samples: [Double]) { sorted = samples.sorted() }

  var isEmpty: Bool { sorted.isEmpty }
  var longest: Double { sorted.last ?? .nan }

  /// - Parameter share: 0.99 for the 99th percentile.
  func at(_ share: Double) -> Double {
    sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }
}

/// Seconds on the monotonic clock that `body` took.
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

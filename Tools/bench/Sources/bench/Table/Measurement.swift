/// The samples of one operation, one per round and candidate. A candidate without this operation
/// has no samples.
struct Measurement {
  let operation: Operation
  var samples: [CandidateName: [Double]]
  /// The reason why there are no samples, for the table; nil if there are some.
  var note: String?

  init(_ operation: Operation, samples: [CandidateName: [Double]] = [:]) {
    self.operation = operation
    self.samples = samples
  }

  mutating func add(_ sample: Double, of candidate: CandidateName) {
    samples[candidate, default: []].append(sample)
  }

  /// Returns the measurement with the samples that a candidate has in another one.
  func with(_ other: Measurement, of candidate: CandidateName) -> Measurement {
    var measurement = self
    measurement.samples[candidate] = other.samples[candidate]
    return measurement
  }

  func summary(of candidate: CandidateName) -> Summary? { Summary(samples[candidate] ?? []) }
}

/// Measurements in the order in which their operations were first added. The title identifies an
/// operation.
struct Measurements {
  private(set) var all: [Measurement] = []

  mutating func add(_ sample: Double, to operation: Operation, of candidate: CandidateName) {
    if let place = all.firstIndex(where: { $0.operation.title == operation.title }) {
      all[place].add(sample, of: candidate)
    } else {
      all.append(Measurement(operation, samples: [candidate: [sample]]))
    }
  }
}

/// The median and the range of some samples.
struct Summary: Equatable {
  let median: Double
  let lowest: Double
  let highest: Double

  /// Returns nil if there are no samples.
  init?(_ samples: [Double]) {
    let sorted = samples.sorted()
    guard let lowest = sorted.first, let highest = sorted.last else { return nil }
    let middle = sorted.count / 2
    self.lowest = lowest
    self.highest = highest
    median =
      sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }
}

/// The lines of the table that are measured together.
struct Section {
  let title: String
  /// The extent of the measurement: how many rows, how many rounds.
  let scope: String
  /// The rows of each store.
  let rows: Int
  let measurements: [Measurement]
}

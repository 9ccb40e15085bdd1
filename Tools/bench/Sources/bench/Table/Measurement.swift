/// What was measured of an operation: each candidate's samples, one per round. A candidate that has
/// no such operation has none.
struct Measurement {
  let operation: Operation
  var samples: [CandidateName: [Double]]
  /// Why there are no samples, for the table; nil if there are.
  var note: String?

  init(_ operation: Operation, samples: [CandidateName: [Double]] = [:]) {
    self.operation = operation
    self.samples = samples
  }

  mutating func add(_ sample: Double, of candidate: CandidateName) {
    samples[candidate, default: []].append(sample)
  }

  func summary(of candidate: CandidateName) -> Summary? { Summary(samples[candidate] ?? []) }
}

/// Measurements in the order in which their operations came first, told apart by their titles.
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

struct Summary: Equatable {
  let median: Double
  let lowest: Double
  let highest: Double

  /// Nil for no samples.
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

/// The lines of one part of the table, measured together.
struct Section {
  let title: String
  /// Of what the figures are: how many rows, how many rounds.
  let scope: String
  /// Of the stores, as targets may be asked of one size.
  let rows: Int
  let measurements: [Measurement]
}

/// How Mooring stands in an operation against a target.
struct Ratio {
  let target: Target
  /// As the target counts: times better than the other, times what it needs, or the figure itself.
  let reached: Double

  var isMet: Bool {
    switch target.bound {
    case .atLeast(let asked, _): reached >= asked
    case .atMost(let asked, _, _): reached <= asked
    case .atMostOwn(let asked): reached <= asked
    }
  }

  var asked: Double {
    switch target.bound {
    case .atLeast(let asked, _), .atMost(let asked, _, _), .atMostOwn(let asked): asked
    }
  }

  /// `3.61 of 14 x GRDB`; what is missed is marked.
  var text: String {
    let ending = isMet ? "" : " !"
    return switch target.bound {
    case .atLeast(_, let other): "\(figures(reached)) of \(plain(asked))x \(other)\(ending)"
    case .atMost(_, let other, _): "\(figures(reached))x \(other), at most \(plain(asked))\(ending)"
    case .atMostOwn: "\(figures(reached)), at most \(plain(asked))\(ending)"
    }
  }
}

/// 14, not 14.0.
private func plain(_ number: Double) -> String {
  number == number.rounded() ? "\(Int(number))" : "\(number)"
}

extension Results {
  /// The targets of an operation for which everything was measured.
  func ratios(of measurement: Measurement) -> [Ratio] {
    measurement.operation.targets.compactMap { target in
      if let asked = target.rows, asked != rows { return nil }
      return reached(target, in: measurement).map { Ratio(target: target, reached: $0) }
    }
  }

  /// How many times better a candidate's median is than another's; nil where one has none.
  func times(
    _ candidate: CandidateName, betterThan other: CandidateName, in measurement: Measurement
  ) -> Double? {
    guard let own = best(of: [candidate], in: measurement),
      let others = best(of: [other], in: measurement)
    else { return nil }
    return times(own, others, measurement.operation)
  }

  private func reached(_ target: Target, in measurement: Measurement) -> Double? {
    guard let own = best(of: [.mooring, .mooringView], in: measurement) else { return nil }
    switch target.bound {
    case .atMostOwn: return own
    case .atLeast(_, let other):
      return best(of: [other], in: measurement).map { times(own, $0, measurement.operation) }
    case .atMost(_, let other, let title):
      let base = measurements.first { $0.operation.title == title } ?? measurement
      return best(of: [other], in: base).map { times($0, own, measurement.operation) }
    }
  }

  /// The better median of some candidates.
  private func best(of candidates: [CandidateName], in measurement: Measurement) -> Double? {
    let medians = candidates.compactMap { measurement.summary(of: $0)?.median }.filter { $0 > 0 }
    return measurement.operation.better == .higher ? medians.max() : medians.min()
  }

  /// How many times better the first figure is than the second.
  private func times(_ first: Double, _ second: Double, _ operation: Operation) -> Double {
    operation.better == .higher ? first / second : second / first
  }
}

/// The ratio that Mooring reached in an operation, with its target.
struct Ratio {
  let target: Target
  /// The number that the target bounds: how many times better Mooring is, how many times as much it
  /// needs, or the measurement itself.
  let reached: Double

  var isMet: Bool {
    switch target.bound {
    case .atLeast(let asked, _, _): reached >= asked
    case .atMost(let asked, _, _), .atMostItself(let asked): reached <= asked
    }
  }

  var asked: Double {
    switch target.bound {
    case .atLeast(let asked, _, _), .atMost(let asked, _, _), .atMostItself(let asked): asked
    }
  }

  /// The cell of the table, as in `3.61 of 14x GRDB !`. The mark is for a target that is missed.
  var text: String {
    let ending = isMet ? "" : " !"
    return switch target.bound {
    case .atLeast(_, let other, let operation):
      "\(numberText(reached)) of \(plain(asked))x \(name(other, operation))\(ending)"
    case .atMost(_, let other, let operation):
      "\(numberText(reached))x \(name(other, operation)), at most \(plain(asked))\(ending)"
    case .atMostItself: "\(numberText(reached)), at most \(plain(asked))\(ending)"
    }
  }

  private func name(_ other: CandidateName, _ operation: String?) -> String {
    other == .mooring ? "\"\(operation ?? "")\"" : "\(other)"
  }
}

extension Section {
  /// Returns the ratios for those targets of an operation whose candidates were measured.
  func ratios(of measurement: Measurement) -> [Ratio] {
    measurement.operation.targets.compactMap { target in
      if let asked = target.rows, asked != rows { return nil }
      return reached(target, in: measurement).map { Ratio(target: target, reached: $0) }
    }
  }

  /// Returns how many times better a candidate's median is than another's; nil if one was not
  /// measured.
  func times(
    _ candidate: CandidateName, betterThan other: CandidateName, in measurement: Measurement
  ) -> Double? {
    guard let own = best(of: [candidate], in: measurement),
      let others = best(of: [other], in: measurement)
    else { return nil }
    return times(own, others, measurement.operation)
  }

  private func reached(_ target: Target, in measurement: Measurement) -> Double? {
    switch target.bound {
    case .atMostItself:
      return measurement.summary(of: .mooring)?.median
    case .atLeast(_, let other, let title):
      guard let (own, base) = medians(measurement, other, title) else { return nil }
      return times(own, base, measurement.operation)
    case .atMost(_, let other, let title):
      guard let (own, base) = medians(measurement, other, title) else { return nil }
      return times(base, own, measurement.operation)
    }
  }

  /// Returns Mooring's median, and that of another candidate in the operation with that title; nil
  /// if one was not measured.
  private func medians(
    _ measurement: Measurement, _ other: CandidateName, _ title: String?
  ) -> (own: Double, base: Double)? {
    let line = title.map { title in measurements.first { $0.operation.title == title } }
    guard let own = best(of: [.mooring, .mooringView], in: measurement),
      let line = line ?? measurement, let base = best(of: [other], in: line)
    else { return nil }
    return (own, base)
  }

  /// Returns the better median of some candidates.
  private func best(of candidates: [CandidateName], in measurement: Measurement) -> Double? {
    let medians = candidates.compactMap { measurement.summary(of: $0)?.median }.filter { $0 > 0 }
    return measurement.operation.better == .higher ? medians.max() : medians.min()
  }

  /// Returns how many times better the first median is than the second.
  private func times(_ first: Double, _ second: Double, _ operation: Operation) -> Double {
    operation.better == .higher ? first / second : second / first
  }
}

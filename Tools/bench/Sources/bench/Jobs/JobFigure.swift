/// What `bench jobs` measures, in the order of its table.
enum JobFigure: CaseIterable {
  case enqueueOne, enqueueMany, enqueueHundred, enqueueHundredValues
  case claim, finish
  case live, liveBatched
  case startAfterCall, startAfterReturn, startAcrossProcesses
  case rescue, rescuesOfPaused
  case idleSwitches, idleMemory
  case claimOneOfFew, claimOneOfMany, claimBatchOfFew, claimBatchOfMany

  var title: String {
    switch self {
    case .enqueueOne: "enqueue, 1 producer, 1 job per commit"
    case .enqueueMany: "enqueue, 64 producers, 1 job each"
    case .enqueueHundred: "enqueue, 1 producer, 100 jobs per commit"
    case .enqueueHundredValues: "enqueue, 1 producer, 100 Swift values per commit"
    case .claim: "claim 128 per commit"
    case .finish: "finish 128 per commit"
    case .live: "enqueue by 64, claim and finish 1"
    case .liveBatched: "enqueue by 64, claim and finish 128"
    case .startAfterCall: "call of enqueue to start, p50"
    case .startAfterReturn: "return of enqueue to start, p50"
    case .startAcrossProcesses: "return of enqueue to start, another process, p50"
    case .rescue: "SIGKILL of a worker until its 64 jobs run again"
    case .rescuesOfPaused: "jobs taken from a worker after SIGSTOP"
    case .idleSwitches: "idle worker, wakeups of a thread"
    case .idleMemory: "idle worker, resident memory"
    case .claimOneOfFew: "claim 1 per commit, few jobs"
    case .claimOneOfMany: "claim 1 per commit, many ready and finished"
    case .claimBatchOfFew: "claim 128 per commit, few jobs"
    case .claimBatchOfMany: "claim 128 per commit, many ready and finished"
    }
  }

  var unit: String {
    switch self {
    case .enqueueOne, .enqueueMany, .enqueueHundred, .enqueueHundredValues, .claim, .finish, .live,
      .liveBatched:
      "jobs/s"
    case .startAfterCall, .startAfterReturn, .startAcrossProcesses, .claimOneOfFew,
      .claimOneOfMany, .claimBatchOfFew, .claimBatchOfMany:
      "ms"
    case .rescue: "s"
    case .rescuesOfPaused: "jobs"
    case .idleSwitches: "per s"
    case .idleMemory: "MB"
    }
  }

  var asked: JobAim? {
    switch self {
    case .enqueueOne: .atLeast(0.6, of: .rawC)
    case .enqueueMany: .atLeastOwn(4, of: .enqueueOne)
    case .enqueueHundred, .claim, .finish: .atLeast(0.5, of: .rawC)
    case .live, .liveBatched: .atLeast(4, of: .sqlite)
    case .enqueueHundredValues, .startAfterCall, .claimOneOfFew, .claimBatchOfFew: nil
    case .startAfterReturn: .atMost(0.5)
    case .startAcrossProcesses: .atMost(3)
    case .rescue, .idleSwitches: .atMost(2)
    case .rescuesOfPaused: .atMost(0)
    case .idleMemory: .atMost(50)
    case .claimOneOfMany: .atMostOwn(1.5, of: .claimOneOfFew)
    case .claimBatchOfMany: .atMostOwn(1.5, of: .claimBatchOfFew)
    }
  }
}

/// What Mooring should reach.
enum JobAim {
  /// So many times the median of another column, on the same line.
  case atLeast(Double, of: JobColumn)
  /// So many times its own median on another line.
  case atLeastOwn(Double, of: JobFigure)
  case atMostOwn(Double, of: JobFigure)
  /// In the unit of the figure.
  case atMost(Double)
}

/// The samples of a run, one per round.
struct JobResults {
  private var samples: [JobFigure: [JobColumn: [Double]]] = [:]

  mutating func add(_ value: Double, to figure: JobFigure, of column: JobColumn) {
    samples[figure, default: [:]][column, default: []].append(value)
  }

  func summary(_ figure: JobFigure, _ column: JobColumn) -> Summary? {
    samples[figure]?[column].flatMap { Summary($0) }
  }

  /// How many times the median that the aim names; nil without one, or while one is missing.
  func ratio(_ figure: JobFigure) -> Double? {
    let base: Double? =
      switch figure.asked {
      case .atLeast(_, let column): summary(figure, column)?.median
      case .atLeastOwn(_, let other), .atMostOwn(_, let other): summary(other, .mooring)?.median
      case .atMost, nil: nil
      }
    guard let own = summary(figure, .mooring)?.median, let base, base > 0 else { return nil }
    return own / base
  }

  /// Nil while there is nothing to judge by.
  func reaches(_ figure: JobFigure) -> Bool? {
    switch figure.asked {
    case .atLeast(let least, _), .atLeastOwn(let least, _): ratio(figure).map { $0 >= least }
    case .atMostOwn(let most, _): ratio(figure).map { $0 <= most }
    case .atMost(let most): summary(figure, .mooring).map { $0.median <= most }
    case nil: nil
    }
  }

  /// One aligned line per figure that was measured, with the medians, and a second block with lowest and highest.
  func table() -> String {
    let columns = JobColumn.allCases
    let headings = ["figure", "unit"] + columns.map(\.description)
    let measured = JobFigure.allCases.filter { samples[$0] != nil }
    let medians = measured.map { figure -> [String] in
      let cells = columns.map { summary(figure, $0).map { figures($0.median) } ?? "-" }
      let ratio = ratio(figure).map { figures($0) + "x" } ?? "-"
      let isReached = reaches(figure).map { $0 ? "yes" : "no" } ?? "-"
      return [figure.title, figure.unit] + cells + [ratio, figure.asked?.text ?? "-", isReached]
    }
    let spreads = measured.map { figure in
      [figure.title, figure.unit] + columns.map { summary(figure, $0)?.spread ?? "-" }
    }
    return """
      \(aligned([headings + ["ratio", "asked", "reached"]] + medians))

      Lowest to highest of the rounds

      \(aligned([headings] + spreads))
      """
  }
}

extension JobAim {
  fileprivate var text: String {
    switch self {
    case .atLeast(let least, let column): "\(figures(least))x of \(column)"
    case .atLeastOwn(let least, _): "\(figures(least))x of its 1 producer"
    case .atMostOwn(let most, _): "at most \(figures(most))x of few jobs"
    case .atMost(let most): "at most \(figures(most))"
    }
  }
}

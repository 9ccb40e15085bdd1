import EntityModel

extension JobTable {
  /// Lets the first job of each lane that waits behind a job's limit compete again: of each lane, as
  /// one that nobody serves just now must not keep the others waiting. Those that find no room are
  /// held back again.
  ///
  /// To be called whenever a job with a limit leaves `running`, or leaves `ready` other than by
  /// being claimed.
  func releaseLimit(of job: JobRecord) throws {
    guard let key = job.limitKey else { return }
    var first: [JobRecord] = []
    try eachLane(.held, place: .string(key)) { job in
      first.append(job)
      return first.count < Limits.lanesOfLimitMax
    }
    for var job in first {
      job.move(to: .ready, at: job.at)
      try update(job)
    }
  }
}

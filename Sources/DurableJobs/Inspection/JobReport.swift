/// The result of a check of the jobs.
public struct JobReport: Codable, Hashable, Sendable {
  public internal(set) var jobs = 0
  public internal(set) var attempts = 0
  public internal(set) var outputs = 0
  /// The number of groups of jobs; in JSON `batches`.
  public internal(set) var groups = 0
  public internal(set) var schedules = 0
  public internal(set) var runners = 0
  /// Violations of the rules that hold whatever was killed when; at most
  /// `Limits.problemsListedMax`.
  public internal(set) var problems: [String] = []
  public internal(set) var problemCount = 0
  /// Observations that are no problems, such as a runner that has died; at most as many.
  public internal(set) var remarks: [String] = []
  public internal(set) var remarkCount = 0

  private enum CodingKeys: String, CodingKey {
    case jobs, attempts, outputs, groups = "batches", schedules, runners, problems, problemCount
    case remarks, remarkCount
  }

  public var isClean: Bool { problemCount == 0 }

  mutating func add(_ problem: String) {
    problemCount += 1
    if problems.count < Limits.problemsListedMax { problems.append(problem) }
  }

  mutating func remark(_ text: String) {
    remarkCount += 1
    if remarks.count < Limits.problemsListedMax { remarks.append(text) }
  }
}

import EntityModel
public import EntityStore

extension Store {
  /// Whether the migrations of the jobs were applied. Without them every call about jobs fails.
  public var hasJobs: Bool {
    get throws { try schema.entity(named: JobRecord.entity) != nil }
  }
}

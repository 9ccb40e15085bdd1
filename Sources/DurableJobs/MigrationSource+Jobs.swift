public import EntityStore
public import Migrations

extension MigrationSource {
  /// The system entities of the jobs. A store whose jobs are used is opened with it.
  public static let jobs = MigrationSource(embedded: [
    ("0001_jobs", PackageResources._001_jobs_yaml)
  ])
}

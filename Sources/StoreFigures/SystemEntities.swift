import EntityStore
public import Migrations

// The names of the entities that `System/0001_figures.yaml` describes.
enum FigureRecord { static let entity = "_Figure" }
enum FeedFiguresRecord { static let entity = "_FeedFigures" }
enum SlowFetchRecord { static let entity = "_SlowFetch" }
enum IndexUseRecord { static let entity = "_IndexUse" }

extension MigrationSource {
  /// The system entities of the figures. A store that records figures is opened with this source.
  public static let figures = MigrationSource(embedded: [
    ("0001_figures", PackageResources._001_figures_yaml)
  ])
}

extension ReadTransaction {
  /// True if the migrations of the figures were applied.
  var hasFigures: Bool { catalog.entities[FigureRecord.entity] != nil }
}

import EntityStore

/// The checks before a run, so that errors are reported while the store is still unchanged.
struct MigrationPreflight {
  let store: Store
  let options: MigrationOptions

  /// Checks the migrations that are to be run.
  ///
  /// - Throws: `migration` for a step that does not fit, code that is not registered, and a
  ///   destructive step that is not allowed; `diskFull`, `mapFull` if there is no room.
  func check(_ positions: [MigrationPosition]) throws {
    try checkCodes(positions)
    try checkDestructive(positions)
    try store.read { try MigrationPlan(positions, options, in: $0, of: store).checkRoom() }
  }

  private func checkCodes(_ positions: [MigrationPosition]) throws {
    let known = try store.migrations
    for position in positions {
      for case .runCode(let code) in position.remainder {
        do throws(StoreError) {
          _ = try code.code(among: known.codes)
        } catch {
          throw error.naming(position.migration)
        }
      }
      for case .importLegacy(let reference) in position.remainder {
        do throws(StoreError) {
          try LegacyImporter.required(known.legacyImporter).check(reference)
        } catch {
          throw error.naming(position.migration)
        }
      }
    }
  }

  private func checkDestructive(_ positions: [MigrationPosition]) throws(StoreError) {
    if options.allowsDestructive { return }
    for position in positions {
      guard let step = position.remainder.first(where: \.isDestructive) else { continue }
      throw StoreError(
        .migration, "a step loses data",
        [
          ("migration", "\(position.migration.line) \(position.migration.name)"),
          ("step", step.description), ("loses", step.loss ?? ""),
        ],
        advice: "if that is intended, add --allow-destructive; the store is copied first")
    }
  }
}

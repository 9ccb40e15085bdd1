/// Two lines that create the same thing: its owner, and the line that has to give way.
struct LintCollision {
  let name: SchemaName
  let owner: LintOwners.Owner
  let place: LintPlace
  let reach: LintReach

  var finding: LintFinding {
    let has = owner.isApplied ? "has in the store" : "creates before it"
    return place.finding(
      .collision, .error,
      "it creates the \(kind) \(name.text), which line \(owner.line) \(has) (\(owner.migration))",
      advice: advice)
  }

  /// The advice for the line that builds on the other one, which is the one that gives way. A line
  /// whose files are not known here is assumed to build on the other: it belongs to an operator.
  private var advice: String {
    let migration = place.migration
    let renaming = "choose another name in \(migration.name)"
    if reach.requires(migration.line, owner.line) { return renaming }
    let givesWay = reach.requires(owner.line, migration.line) || !reach.hasFiles(of: owner.line)
    guard owner.isApplied else {
      return givesWay ? "choose another name in line \(owner.line) (\(owner.migration))" : renaming
    }
    let way =
      "add a file to line \(owner.line) that \(remedy), and apply it while line \(migration.line) "
      + "stays at \(migration.version - 1)"
    return givesWay ? way : "\(renaming), or \(way)"
  }

  private var remedy: String {
    let parts = name.text.split(separator: ".", maxSplits: 1).map(String.init)
    let entity = parts.first ?? name.text
    let member = parts.last ?? name.text
    switch name.kind {
    case .entity:
      return "renames it (renameEntity: { name: \(entity), to: … }) or drops it (dropEntity)"
    case .property:
      return "renames it (renameAttribute: { on: \(entity), name: \(member), to: … }) or drops it"
    case .index: return "drops it (dropIndex: { on: \(entity), name: \(member) })"
    case .template: return "drops it (dropTemplate: { name: \(entity) })"
    }
  }

  private var kind: String {
    switch name.kind {
    case .entity: "entity"
    case .property: "attribute or relationship"
    case .index: "index"
    case .template: "template"
    }
  }
}

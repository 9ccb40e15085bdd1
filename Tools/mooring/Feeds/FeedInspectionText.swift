import Console
import EntityStore
import FeedSync
import Foundation

/// The output of `mooring feed inspect`.
struct FeedInspectionText {
  let inspection: FeedInspection
  /// The URL in the spelling of the command line.
  let url: String
  /// Options that say how the feed is requested.
  let requestWords: [String]
  /// Where the mapping was to go.
  let mapping: String?
  /// The folder where the migration was to go.
  let migrations: String?
  let written: [String]
  let options: StoreOptions

  struct Document: Encodable {
    let inspection: FeedInspection
    let written: [String]

    func encode(to encoder: any Encoder) throws {
      try inspection.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(written, forKey: .written)
    }

    private enum CodingKeys: String, CodingKey { case written }
  }

  /// Members that are listed; `--format json` has all that were found.
  private static let membersMax = 40

  var document: Document { Document(inspection: inspection, written: written) }

  func write(_ output: inout StandardOutput) throws {
    try output.write("\(summary.singleLine)\n\n")
    try output.write(TextTable(facts: facts))
    if !inspection.members.isEmpty {
      try output.write("\n")
      try output.write(members)
      let more = inspection.members.count - Self.membersMax
      if more > 0 || inspection.hasMoreMembers {
        try output.write(
          "and \(more > 0 ? Formatting.count(Int64(more)) : "still") more (--format json)\n")
      }
    }
    let lines = inspection.notes + inspection.unconfirmed.map { "to be confirmed: " + $0 }
    if !lines.isEmpty { try output.write("\n") }
    for line in lines { try output.write(line.singleLine + "\n") }
    if written.isEmpty, inspection.builtIn == nil, let mapping = inspection.mapping {
      try output.write("\n")
      for line in mapping.split(separator: "\n") {
        try output.write(String(line).singleLine + "\n")
      }
    }
    try output.write("\n")
    for line in next { try output.write(line.singleLine + "\n") }
  }

  private var summary: String {
    let items =
      "\(Formatting.count(Int64(inspection.items))) item\(inspection.items == 1 ? "" : "s")"
    return "\(inspection.url): \(inspection.format), "
      + (inspection.path.map { "\(items) at \($0)" } ?? "no items found")
  }

  // MARK: Facts

  private var facts: [(String, String?)] {
    func list(_ pointers: [String]) -> String? {
      pointers.isEmpty ? nil : pointers.joined(separator: ", ")
    }
    let redirects = inspection.redirects.map { "\($0.status) to \($0.to)" }
    let candidates = inspection.candidates
    let identity = inspection.builtIn == nil ? inspection.identity : nil
    return [
      ("final url", inspection.finalURL == inspection.url ? nil : inspection.finalURL),
      ("redirects", list(redirects)), ("status", String(inspection.status)),
      ("content type", inspection.contentType), ("etag", inspection.etag ?? "none"),
      ("last-modified", inspection.lastModified ?? "none"),
      (
        "fresh for",
        inspection.freshForSeconds.map { Formatting.duration(.seconds($0)) } ?? "not said"
      ),
      ("encoding", inspection.encoding),
      (
        "size",
        "\(Formatting.bytes(Int64(inspection.bytes))), "
          + "\(Formatting.bytes(Int64(inspection.wireBytes))) on the wire"
      ),
      ("title", inspection.title), ("other lists", list(inspection.otherPaths)),
      ("identity", identity?.text),
      ("not the id", identity.flatMap { _ in list(inspection.notIdentity) }),
      ("id may be", list(candidates.id)), ("title may be", list(candidates.title)),
      ("summary may be", list(candidates.summary)), ("url may be", list(candidates.url)),
      ("updated may be", list(candidates.updatedAt)),
      ("published may be", list(candidates.publishedAt)), ("next page", inspection.next),
      ("checkpoint", inspection.checkpoint),
    ]
  }

  private var members: TextTable {
    var table = TextTable([
      .init("member"), .init("in", .number), .init("different", .number), .init("type"),
      .init("looks like"), .init("example"),
    ])
    for member in inspection.members.prefix(Self.membersMax) {
      table.append([
        member.pointer, Formatting.count(Int64(member.present)),
        member.different.map { Formatting.count(Int64($0)) } ?? "",
        member.types.joined(separator: ", "), member.looksLike ?? "", member.example ?? "",
      ])
    }
    return table
  }

  // MARK: Next

  private var next: [String] {
    let wrote = written.isEmpty ? [] : ["wrote \(written.joined(separator: " and "))"]
    if let builtIn = inspection.builtIn, written.isEmpty {
      return [
        "\(inspection.format) is read by the built-in mapping \(builtIn); type",
        "  " + add(mapping: nil),
      ]
    }
    guard inspection.mapping != nil else {
      return ["nothing to do next: another URL may serve better"]
    }
    let needsMigration = inspection.migration != nil
    if let mapping, migrations != nil || !needsMigration || !isWhole {
      return wrote + [readBoth]
        + (migrations != nil && needsMigration
          ? ["  " + command(["migrate", "up", "--migrations", migrations ?? ""])] : [])
        + ["  " + add(mapping: mapping)]
    }
    let inspect =
      ["feed", "inspect", url] + requestWords
      + (inspection.entity == "Episode" ? [] : ["--entity", inspection.entity])
      + ["--mapping", mapping ?? inspection.name + ".yaml"]
    let made = ["--migration", migrations ?? "migrations"]
    guard needsMigration else {
      return ["to have the mapping written, type", "  " + command(inspect)]
    }
    if isWhole || migrations != nil {
      return wrote + ["to have both files written, type", "  " + command(inspect + made)]
    }
    return [
      "to have the mapping written, type", "  " + command(inspect),
      "and for what \(inspection.entity) has no attributes for, add \(made.joined(separator: " "))",
    ]
  }

  /// True if the mapping needs nothing from the migration.
  private var isWhole: Bool { inspection.mapping == inspection.wholeMapping }

  private var readBoth: String {
    let them = written.count > 1 ? "both and correct them" : "it and correct it"
    return inspection.unconfirmed.isEmpty
      ? "read \(them); then type"
      : "read \(them), above all what is `unconfirmed`; then type"
  }

  private func add(mapping: String?) -> String {
    let into = inspection.entity == "Episode" ? [] : ["--into", inspection.entity]
    let map = mapping.map { ["--mapping", $0] } ?? []
    let made = migrations.map { ["--migrations", $0] } ?? []
    return command(["feed", "add", url] + requestWords + into + map + made)
  }

  private func command(_ words: [String]) -> String { options.commandLine(words) }
}

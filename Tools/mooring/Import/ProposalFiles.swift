import ArgumentParser
import Console
import EntityStore
import Foundation
import Migrations

/// The files that an inspection proposes.
struct ProposedFiles {
  /// The name of the migration line.
  let name: String
  let mapping: String
  /// `nil` when there is nothing to make.
  let migration: String?
  /// The name of the migration file; `nil` for the first one of the line.
  var migrationFile: String?
}

/// Where an inspection writes what it proposes, as it is typed.
struct ProposalOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Write the mapping there.", valueName: "out.yaml"), completion: .file())
  var mapping: String?
  @Option(
    help: ArgumentHelp(
      "Write the migration into this folder, which is made if it is missing.", valueName: "dir"),
    completion: .directory)
  var migration: String?
  @Flag(help: "Replace what an earlier inspection has written.") var force = false

  func validate() throws {
    if force, mapping == nil, migration == nil {
      throw ValidationError("--force is for --mapping and --migration; add one of them")
    }
  }

  /// - Throws: `CommandError` if the mapping is there already.
  func requireFree() throws {
    guard let mapping, !force, FileManager.default.fileExists(atPath: mapping) else { return }
    throw CommandError(
      .cannotCreate, "\(mapping) is there already; choose another name, or add --force")
  }

  /// - Returns: The paths of what was written.
  /// - Throws: `CommandError` for what is there already or cannot be made.
  func write(_ proposal: ProposedFiles) throws -> [String] {
    var written: [String] = []
    // First, for it is refused more often.
    if let migration, let text = proposal.migration {
      let path = try pathOfMigration(of: proposal, in: migration)
      try write(text, to: path)
      written.append(path)
    }
    if let mapping {
      try write(proposal.mapping, to: mapping)
      written.insert(mapping, at: 0)
    }
    return written
  }

  /// The first of its line: a second one that makes the same entities could never be applied.
  private func pathOfMigration(of proposal: ProposedFiles, in folder: String) throws -> String {
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw CommandError(.cannotCreate, "the folder \(folder) cannot be made")
    }
    if let file = proposal.migrationFile {
      return (folder as NSString).appendingPathComponent(file)
    }
    let line = try MigrationLine.load([.directory(folder)]).first { $0.name == proposal.name }
    if let line, line.migrations.count > 1 || !force {
      let last = line.migrations.last.map { " (\($0.name))" } ?? ""
      throw CommandError(
        .cannotCreate,
        "\(folder) has migrations of the line \(proposal.name) already\(last); choose another "
          + "--name, "
          + "or add --force to replace one that was never applied")
    }
    let slug = String(proposal.name.map { $0 == "-" || $0 == "." ? "_" : $0 })
    let name = line?.migrations.first?.name ?? "0001_" + slug
    return (folder as NSString).appendingPathComponent(name + ".yaml")
  }

  private func write(_ text: String, to path: String) throws {
    do {
      try Data(text.utf8).write(
        to: URL(fileURLWithPath: path), options: force ? .atomic : .withoutOverwriting)
    } catch {
      let isThere = FileManager.default.fileExists(atPath: path)
      let reason = isThere ? "is there already; add --force" : "cannot be written"
      throw CommandError(.cannotCreate, "\(path) \(reason)")
    }
  }
}

import ArgumentParser
import Console
import EntityObjects
import EntityStore
import Foundation
import Migrations

/// The next migration file of a line, which is still to be written.
struct MigrationDraft {
  let line: String
  let slug: String
  let version: Int
  /// The last versions of the other lines.
  let requirements: [Migration.Requirement]
  /// Why it has this number.
  let reason: String

  /// - Parameter folder: Where the files of the line are.
  /// - Throws: `CommandError` if they are elsewhere; what reading the files throws.
  init(line: String, slug: String, in folder: String, _ options: StoreOptions) throws {
    let own = try MigrationLine.load([.directory(folder)])
    let others = try options.linesBeside(own)
    let isOfSystem = line.split(separator: ".").first == "system"
    guard !isOfSystem, !others.contains(where: { $0.name == line }) else {
      throw CommandError(
        .usage,
        "the files of the line \(line) are not in \(folder); name another line, such as local, or "
          + "the folder of that one")
    }
    let last = own.first { $0.name == line }?.migrations.last
    self.line = line
    self.slug = slug
    version = (last?.version ?? 0) + 1
    reason = last.map { "\($0.name) is the last one of \(line)" } ?? "it is the first of \(line)"
    requirements = (others + own).filter { $0.name != line && !$0.isOfSystem }
      .map { Migration.Requirement(line: $0.name, version: $0.migrations.count) }
  }

  /// - Throws: `ValidationError`
  static func validate(line: String) throws {
    guard line.wholeMatch(of: /[a-z][a-z0-9.-]{0,63}/) != nil else {
      throw ValidationError(
        "\"\(line)\" is not a valid name of a line; use lower-case letters, digits, - and .")
    }
  }

  var fileName: String {
    let digits = String(version)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + "\(digits)_\(slug).yaml"
  }

  /// A file to be filled in. It can be read as it stands, and does nothing.
  var skeleton: String {
    let requires = requirements.map { "\($0.line)@\($0.version)" }.joined(separator: ", ")
    return """
      # \(fileName): once it has been applied anywhere it is never edited; a later file corrects it.
      line: \(line)
      summary: \(slug.replacing("_", with: " "))
      # Versions of other lines that must be applied first. Remove those that are not needed.
      requires: [\(requires)]
      # What is done, in this order; MigrationFileReference.md lists all steps. For example:
      # - addAttribute: { to: Episode, name: note, type: string, optional: true, owner: local }
      # - createIndex: { on: Episode, name: byDuration, keys: [duration desc] }
      # - updateRows: { on: Episode, where: note == nil, set: { note: "" } }
      steps: []
      # The steps that revert it, if that is possible.
      # down:
      # - dropIndex: { on: Episode, name: byDuration }

      """
  }

  /// - Returns: The path of the file.
  /// - Throws: `CommandError` if it is there, or cannot be made.
  func write(_ text: String, to folder: String) throws -> String {
    let path = folder + "/" + fileName
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
    } catch {
      let isThere = FileManager.default.fileExists(atPath: path)
      let reason = isThere ? "is there already; choose another name" : "cannot be written"
      throw CommandError(.cannotCreate, "\(path) \(reason)")
    }
    return path
  }
}

import Foundation
import Mooring
import StrictYAML

@testable import EntityStore
@testable import Migrations

/// Reads the bytes as a migration file: a migration, or an error with a position in the file. A
/// migration is written as a file that reads back to the same steps, and is applied to an empty
/// schema or rejected with a message.
@_cdecl("fuzz_migration_file")
public func fuzzMigrationFile(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
  // SAFETY: libFuzzer keeps the `count` bytes until this returns; they are copied.
  let file = Array(UnsafeBufferPointer(start: bytes, count: count))
  let migration: Migration
  do {
    migration = try MigrationFile.read(file, name: "0001_fuzz", file: "fuzz")
  } catch let error as YAMLError {
    guard error.line >= 1, error.column >= 1 else {
      fatalError("an error without a place: \(error)")
    }
    return
  } catch {
    fatalError("another error than of the file: \(error)")
  }
  expectSameSteps(migration)
  var change = SchemaChange(schema: Schema())
  for step in migration.steps {
    do {
      try change.apply(step)
    } catch {
      return
    }
  }
}

private func expectSameSteps(_ migration: Migration) {
  let text = MigrationText.yaml(
    of: migration.steps, down: migration.down, line: migration.line, summary: migration.summary,
    requires: migration.requires, older: migration.older)
  do {
    let again = try MigrationFile.read(Array(text.utf8), name: "0001_fuzz", file: "fuzz")
    guard again.steps == migration.steps, again.down == migration.down else {
      fatalError("reads back to other steps:\n\(text)")
    }
  } catch {
    fatalError("does not read back: \(error)\n\(text)")
  }
}

package import EntityModel
import EntityStore
package import Migrations

/// Which tables and columns of a legacy file become which entities, attributes and relationships of
/// a store. Each table and column of the file is mapped or skipped.
package struct ImportMapping: Hashable, Sendable {
  /// The name under which the store remembers what came from this source.
  package var name: String
  package var dialect: SourceDialect
  package var entities: [EntityMapping] = []
  package var skippedTables: Set<String> = []
  /// The skipped columns, by table.
  package var skippedColumns: [String: Set<String>] = [:]
  package var rejectLimit = RejectLimit.count(0)
  /// The statements that create tables whose schema a damaged file has lost, by name.
  package var lostTables: [String: String] = [:]
  /// Facts about the source, which the file has as comments.
  package var evidence: [String] = []
}

extension ImportMapping {
  /// The columns that the mapping reads, by table. A key of row ids is among them.
  var columnsTaken: [String: Set<String>] {
    var taken: [String: Set<String>] = [:]
    for entity in entities {
      var columns = entity.filter.columns.union(entity.key)
      for case .column(let column) in entity.attributes.map(\.source) { columns.insert(column) }
      for relationship in entity.relationships {
        switch relationship.source {
        case .columns(let own): columns.formUnion(own)
        case .join(let table, let owner, let target, let order):
          taken[table, default: []].formUnion(owner + target + [order].compactMap(\.self))
        }
      }
      taken[entity.table, default: []].formUnion(columns)
    }
    return taken
  }
}

package enum SourceDialect: String, Hashable, Sendable, CaseIterable {
  case coreData, plain
}

/// The number of rejects with which a run still succeeds.
package enum RejectLimit: Hashable, Sendable {
  case count(Int64)
  /// A share of the accepted and rejected rows: 0.001 is one in a thousand.
  case share(Double)
}

/// The mapping of rows of one table to records of one entity. Several mappings may read one table
/// with the same key, if no row fits two of them.
package struct EntityMapping: Hashable, Sendable {
  package var entity: String
  package var table: String
  /// The name that the table had when its rows were first imported: rows are recognized by it.
  package var formerTable: String?
  package var filter = RowFilter()
  /// The columns whose values identify a row in all versions of the file.
  package var key: [String]
  /// The attributes by whose values an existing record is taken for a row that the store does not
  /// know yet: exactly those of one unique index.
  package var match: [String] = []
  package var attributes: [AttributeMapping] = []
  package var relationships: [RelationshipMapping] = []
  package var evidence: [String] = []
}

/// A selection of rows: each column that is named has one of the values, or none of them. Values
/// are words as in a ``Conversion``; `nil` is null.
package struct RowFilter: Hashable, Sendable {
  package var isOneOf: [String: Set<String?>] = [:]
  package var isNoneOf: [String: Set<String?>] = [:]
}

package struct AttributeMapping: Hashable, Sendable {
  package enum Source: Hashable, Sendable {
    case column(String)
    /// A constant for every row.
    case constant(Value)
  }

  /// The form of the value in a cell.
  package enum Content: Hashable, Sendable {
    case value
    /// Core Data's external binary storage: the first byte says whether the value follows or a file
    /// has it.
    case external
    /// An archive of NSKeyedArchiver with objects of these classes. Any other archive is rejected,
    /// or stored as it is with `keepsBytes`.
    case archive(classes: Set<String>, keepsBytes: Bool)
  }

  /// The treatment of text that is not UTF-8.
  package enum BadText: String, Hashable, Sendable, CaseIterable {
    case refuse
    /// The whole text is read as ISO 8859-1.
    case latin1
    /// Each invalid sequence becomes U+FFFD.
    case replace
  }

  /// The treatment of a value whose file in the external storage is missing.
  package enum MissingFile: String, Hashable, Sendable, CaseIterable {
    /// The value is rejected; the record is imported without it.
    case reject
    /// The record is imported without the value, and the missing file is only counted.
    case drop
    /// The row is rejected.
    case rejectRow
  }

  package var attribute: String
  /// The type of the attribute.
  package var type: AttributeType
  package var source: Source
  package var content = Content.value
  package var missingFile = MissingFile.reject
  package var badText = BadText.refuse
  package var conversion = Conversion.none
  package var evidence: [String] = []
  /// The reason why this is a guess that a person must confirm before a run.
  package var unconfirmed: String?
}

package struct RelationshipMapping: Hashable, Sendable {
  package enum Source: Hashable, Sendable {
    /// Columns of the row itself with the key of the other row.
    case columns([String])
    /// Rows of another table, each with the keys of an owner and of the other row: a join table, or
    /// the table of the other rows.
    case join(table: String, owner: [String], target: [String], order: String?)
  }

  /// The treatment of a key that no row has.
  package enum Orphan: String, Hashable, Sendable, CaseIterable {
    /// The link is rejected; the record stays without it.
    case reject
    /// The link is counted as dropped and not rejected.
    case drop
  }

  package var relationship: String
  package var source: Source
  /// The table of the other rows, whose key the columns have.
  package var table: String
  package var orphan = Orphan.reject
  package var evidence: [String] = []
  package var unconfirmed: String?
}

/// An import that an inspection proposes.
package struct SuggestedImport: Sendable {
  package var mapping: ImportMapping
  /// The steps of the migration that creates the entities of the mapping.
  package var steps: [MigrationStep]
  /// Facts that a person should know before they go on, each on one line.
  package var warnings: [String]
  /// The names of tables, columns and properties in an earlier version of the file.
  var formerNames = FormerNames()

  /// The text of the migration file. Its migration line has the name of the import.
  package var migrationText: String {
    MigrationText.yaml(
      of: steps, line: mapping.name, summary: "What \(mapping.name) is imported to")
  }
}

/// The names that the model of a program remembers from an earlier version of it.
struct FormerNames: Hashable, Sendable {
  /// The former names of entities of the model, by their names.
  var entities: [String: String] = [:]
  /// The former names of tables, by their names.
  var tables: [String: String] = [:]
  /// The former names of columns, by table and name, without the digits that equal names get.
  var columns: [String: [String: String]] = [:]
  /// The former names of attributes and relationships, by proposed entity and name.
  var properties: [String: [String: String]] = [:]
}

package import EntityModel

/// What of a legacy file becomes what of a store: every table and column of the file is named, to be
/// taken over or to be skipped.
package struct ImportMapping: Hashable, Sendable {
  /// The name under which the store remembers what came from this source.
  package var name: String
  package var dialect: SourceDialect
  package var entities: [EntityMapping]
  package var skippedTables: Set<String>
  /// By table.
  package var skippedColumns: [String: Set<String>]
  package var rejectLimit: RejectLimit
  /// What was found out about the source; comments of the file.
  package var evidence: [String]

  package init(
    name: String, dialect: SourceDialect, entities: [EntityMapping] = [],
    skippedTables: Set<String> = [], skippedColumns: [String: Set<String>] = [:],
    rejectLimit: RejectLimit = .count(0), evidence: [String] = []
  ) {
    self.name = name
    self.dialect = dialect
    self.entities = entities
    self.skippedTables = skippedTables
    self.skippedColumns = skippedColumns
    self.rejectLimit = rejectLimit
    self.evidence = evidence
  }
}

package enum SourceDialect: String, Hashable, Sendable, CaseIterable {
  case coreData, plain
}

/// How many rejected rows a run may end with and still be a success.
package enum RejectLimit: Hashable, Sendable {
  case count(Int64)
  /// Of the rows that the mapping takes: 0.001 is one in a thousand.
  case share(Double)
}

/// Rows of one table that become records of one entity. Several of them may read one table, if no row
/// is for two of them; all of these have the same key.
package struct EntityMapping: Hashable, Sendable {
  package var entity: String
  package var table: String
  package var filter: RowFilter
  /// The columns whose values say which row it is, over all versions of the file.
  package var key: [String]
  /// Attributes by whose values a record that is there already is taken for the row's, where the store
  /// does not yet know the row. Exactly those of one unique index.
  package var match: [String]
  package var attributes: [AttributeMapping]
  package var relationships: [RelationshipMapping]
  package var evidence: [String]

  package init(
    entity: String, table: String, filter: RowFilter = RowFilter(), key: [String],
    match: [String] = [], attributes: [AttributeMapping] = [],
    relationships: [RelationshipMapping] = [], evidence: [String] = []
  ) {
    self.entity = entity
    self.table = table
    self.filter = filter
    self.key = key
    self.match = match
    self.attributes = attributes
    self.relationships = relationships
    self.evidence = evidence
  }
}

/// Which rows: each column that is named has one of the values, or none of them. Values are words as a
/// ``Conversion`` has them; `nil` is null.
package struct RowFilter: Hashable, Sendable {
  package var isOneOf: [String: Set<String?>]
  package var isNoneOf: [String: Set<String?>]

  package init(isOneOf: [String: Set<String?>] = [:], isNoneOf: [String: Set<String?>] = [:]) {
    self.isOneOf = isOneOf
    self.isNoneOf = isNoneOf
  }
}

package struct AttributeMapping: Hashable, Sendable {
  package enum Source: Hashable, Sendable {
    case column(String)
    /// The same for every row: which entity of several it was.
    case constant(Value)
  }

  /// What the bytes of a column are, where they are not the value itself.
  package enum Content: Hashable, Sendable {
    case value
    /// Core Data's external binary storage: the first byte says whether the rest is the value or names
    /// a file.
    case external
    /// An NSKeyedArchiver archive of these classes; any other class makes it a reject, or with
    /// `keepsBytes` the archive as it is.
    case archive(classes: Set<String>, keepsBytes: Bool)
  }

  /// What becomes of text that is not UTF-8.
  package enum BadText: String, Hashable, Sendable, CaseIterable {
    case refuse
    /// The whole text is read as ISO 8859-1.
    case latin1
    /// Each wrong sequence becomes U+FFFD.
    case replace
  }

  package var attribute: String
  /// Of the target.
  package var type: AttributeType
  package var source: Source
  package var content: Content
  package var badText: BadText
  package var conversion: Conversion
  package var evidence: [String]
  /// Why this is a guess that a person must confirm; a run refuses it until then.
  package var unconfirmed: String?

  package init(
    attribute: String, type: AttributeType, source: Source, content: Content = .value,
    badText: BadText = .refuse, conversion: Conversion = .none, evidence: [String] = [],
    unconfirmed: String? = nil
  ) {
    self.attribute = attribute
    self.type = type
    self.source = source
    self.content = content
    self.badText = badText
    self.conversion = conversion
    self.evidence = evidence
    self.unconfirmed = unconfirmed
  }
}

package struct RelationshipMapping: Hashable, Sendable {
  package enum Source: Hashable, Sendable {
    /// Columns of the row itself that have the key of the other one.
    case columns([String])
    /// Rows of another table, each with the key of an owner and of the other one: a join table, or the
    /// table of the others themselves.
    case join(table: String, owner: [String], target: [String], order: String?)
  }

  /// What becomes of a value that leads to no row.
  package enum Orphan: String, Hashable, Sendable, CaseIterable {
    /// It is a reject; the record stays, without the link.
    case reject
    /// It is counted as an orphan, and is no reject.
    case drop
  }

  package var relationship: String
  package var source: Source
  /// The table whose key the values are of.
  package var table: String
  package var orphan: Orphan
  package var evidence: [String]
  package var unconfirmed: String?

  package init(
    relationship: String, source: Source, table: String, orphan: Orphan = .reject,
    evidence: [String] = [], unconfirmed: String? = nil
  ) {
    self.relationship = relationship
    self.source = source
    self.table = table
    self.orphan = orphan
    self.evidence = evidence
    self.unconfirmed = unconfirmed
  }
}

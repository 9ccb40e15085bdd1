import PostgreSQL

/// A failure of the tables for SQL, with advice for the user.
package struct TablesError: Error, Sendable, CustomStringConvertible {
  package enum Code: Sendable {
    /// Another process has the lease for the tables.
    case elsewhere
    /// Others hold locks on the tables in the database.
    case busy
    /// There are no tables.
    case noTables
    /// The entity writes no history, from which its table could follow it.
    case noHistory
    /// A column would have a name that the database keeps for itself.
    case reservedName
    /// The database cannot store every character.
    case encoding
    /// A table that this program has not made has the name.
    case occupied
    /// A view, or another object, depends on a table that is to be replaced or dropped.
    case inUse
    /// There is no such role.
    case unknownRole
    /// The role may not do it.
    case permission
    /// The database refuses what is written, such as a row that is too wide.
    case refused
  }

  package let code: Code
  /// The failure in constant words.
  package let summary: StaticString
  package let context: [(String, String)]
  package let advice: StaticString

  init(
    _ code: Code, _ summary: StaticString, _ context: [(String, String)] = [], advice: StaticString
  ) {
    self.code = code
    self.summary = summary
    self.context = context
    self.advice = advice
  }

  /// The error in one line: the summary, the context, and the advice.
  package var description: String {
    let values = context.map { "\($0.0): \($0.1)" }.joined(separator: ", ")
    return "\(summary)\(values.isEmpty ? "" : " (\(values))"); \(advice)"
  }
}

extension TablesError {
  /// Returns the error for an answer of the database; `nil` for one that every user of a hub gets.
  init?(_ error: PostgreSQLError) {
    let text = [error.message, error.detail].compactMap { $0 }.joined(separator: ", ")
    let cause = [("cause", text)]
    switch error.sqlState {
    case .lockTimeout?:
      self.init(.busy, "the tables are in use", cause, advice: "try again")
    case .insufficientPrivilege?:
      self.init(
        .permission, "the role may not write the tables", cause,
        advice: "grant it CREATE on the database; one role makes and writes the tables")
    case .duplicateTable?:
      self.init(
        .occupied, "the name of a table is taken", cause,
        advice: "rename or drop the other table, which Mooring has not made")
    case .dependentObjects?:
      self.init(
        .inUse, "other objects depend on a table", cause,
        advice: "drop them, run the command again, and create them again")
    case .undefinedObject?:
      self.init(.unknownRole, "there is no such role", cause, advice: "create it first")
    case let state? where [.data, .constraint, .limit].contains(state.class):
      self.init(.refused, "the database refuses a row", cause, advice: "report this as a bug")
    default: return nil
    }
  }
}

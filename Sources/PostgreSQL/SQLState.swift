/// The code of an error of the server, by which a program decides: two characters for the class
/// and three for the error in it. They are listed in appendix A of PostgreSQL's manual.
package struct SQLState: Hashable, Sendable, CustomStringConvertible {
  /// The first two characters of a code.
  package struct Class: Hashable, Sendable {
    package let code: String

    package static let connection = Class(code: "08")
    package static let data = Class(code: "22")
    package static let constraint = Class(code: "23")
    package static let authorization = Class(code: "28")
    package static let transactionRollback = Class(code: "40")
    package static let syntaxOrAccess = Class(code: "42")
    package static let insufficientResources = Class(code: "53")
    package static let limit = Class(code: "54")
    package static let operatorIntervention = Class(code: "57")
    package static let system = Class(code: "58")
  }

  /// The five characters.
  package let code: String

  package var `class`: Class { Class(code: String(code.prefix(2))) }
  package var description: String { code }

  /// - Returns: `nil` unless the text has five characters, each a digit or a capital letter.
  package init?(_ code: some StringProtocol) {
    let isValid = code.utf8.allSatisfy { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
    guard code.utf8.count == 5, isValid else { return nil }
    self.code = String(code)
  }

  private init(known code: StaticString) { self.code = "\(code)" }
}

extension SQLState {
  // Connections.
  package static let invalidAuthorization = SQLState(known: "28000")
  package static let invalidPassword = SQLState(known: "28P01")
  package static let undefinedDatabase = SQLState(known: "3D000")
  package static let tooManyConnections = SQLState(known: "53300")
  package static let adminShutdown = SQLState(known: "57P01")
  package static let crashShutdown = SQLState(known: "57P02")
  package static let cannotConnectNow = SQLState(known: "57P03")
  package static let protocolViolation = SQLState(known: "08P01")

  // Transactions.
  package static let activeTransaction = SQLState(known: "25001")
  package static let readOnlyTransaction = SQLState(known: "25006")
  package static let failedTransaction = SQLState(known: "25P02")
  package static let idleInTransactionTimeout = SQLState(known: "25P03")
  package static let serializationFailure = SQLState(known: "40001")
  package static let deadlock = SQLState(known: "40P01")
  package static let lockTimeout = SQLState(known: "55P03")
  /// A cancel request, or `statement_timeout`.
  package static let queryCanceled = SQLState(known: "57014")

  // Data and objects.
  package static let invalidText = SQLState(known: "22021")
  package static let notNullViolation = SQLState(known: "23502")
  package static let foreignKeyViolation = SQLState(known: "23503")
  package static let uniqueViolation = SQLState(known: "23505")
  package static let checkViolation = SQLState(known: "23514")
  package static let insufficientPrivilege = SQLState(known: "42501")
  package static let syntaxError = SQLState(known: "42601")
  package static let undefinedFunction = SQLState(known: "42883")
  package static let undefinedTable = SQLState(known: "42P01")
  package static let undefinedObject = SQLState(known: "42704")
  /// Other objects depend on what is to be dropped.
  package static let dependentObjects = SQLState(known: "2BP01")
  package static let duplicateSchema = SQLState(known: "42P06")
  package static let duplicateTable = SQLState(known: "42P07")
  package static let undefinedSchema = SQLState(known: "3F000")

  // Resources.
  package static let diskFull = SQLState(known: "53100")
  package static let outOfMemory = SQLState(known: "53200")
  package static let inputOutput = SQLState(known: "58030")
}

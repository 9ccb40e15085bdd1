import Testing

@testable import PostgreSQL

@Suite struct ConnectionStringTests {
  @Test(arguments: [
    "host=db.example.org port=5433 dbname=mooring password=hunter2 sslmode=verify-full",
    "postgresql://db.example.org:5433/mooring?password=hunter2&sslmode=verify-full",
    "host='db.example.org' port = 5433 dbname=mooring password='hunter2' sslmode=verify-full",
  ])
  func bothFormsAreRead(_ text: String) throws {
    let string = try ConnectionString(text)
    let options = Dictionary(uniqueKeysWithValues: string.options.map { ($0.keyword, $0.value) })
    #expect(
      options == [
        "host": "db.example.org", "port": "5433", "dbname": "mooring", "password": "hunter2",
        "sslmode": "verify-full",
      ])
    #expect(string.containsPassword)
  }

  @Test(arguments: ["service=home", "postgresql://reader@db/mooring", "host=/run passfile=/etc/p"])
  func aStringWithoutPasswordSaysSo(_ text: String) throws {
    #expect(try !ConnectionString(text).containsPassword)
  }

  @Test(arguments: [
    "host=db password=hunter2", "postgresql://user:hunter2@db", "sslkey=k sslpassword=hunter2",
  ])
  func aPasswordIsNeverShown(_ text: String) throws {
    let string = try ConnectionString(text)
    #expect(string.containsPassword)
    var dumped = ""
    dump(string, to: &dumped)
    for shown in ["\(string)", String(reflecting: string), dumped, "\([string])"] {
      #expect(!shown.contains("hunter"), "\(shown)")
      #expect(shown.contains("***"), "\(shown)")
    }
  }

  @Test func theDescriptionCanBeRead() throws {
    let string = try ConnectionString(#"host='a b' user='o\'neill' dbname='' options='-c x=\\'"#)
    #expect("\(string)" == #"user='o\'neill' dbname='' host='a b' options='-c x=\\'"#)
    #expect("\(try ConnectionString("\(string)"))" == "\(string)")
  }

  @Test(arguments: [
    "hunter2", "password=my hunter2", #"password=a b"hunter2"#, #"password="=" "="hunter2"="#,
    "host=db password='hunter2", "password=x hunter2=y",
    "postgresql://user:hunter2%zz@db", "postgresql://u:p@db?hunter2=1", "postgresql://[hunter2/db",
    "host=db\0password=hunter2", "postgresql://u:p@db?password=hunter2=3",
  ])
  func theErrorOfABadStringHasNoPieceOfIt(_ text: String) throws {
    let error = try failure { _ = try ConnectionString(text) }
    #expect(error.code == .connectionString)
    #expect(!"\(error)".contains("hunter"), "\(error)")
  }
}

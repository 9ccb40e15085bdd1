import LMDB
import SystemSupport
import TestSupport

/// Runs `body` with a new store, and checks its pages at the end.
func withStore<R>(
  options: Environment.Options = .init(mapSize: 1 << 30, createIfMissing: true),
  _ body: (Environment) throws -> R
) throws -> R {
  try withTemporaryFolder { folder in
    var options = options
    options.commitLog = try options.commitLog ?? Shadow.log(ofStoreIn: folder.path("store"))
    let environment = try Environment.open(at: folder.path("store"), options: options)
    let value = try body(environment)
    let report = try PageFile.verify(folder: environment.folder, snapshotOf: environment)
    guard report.problems.isEmpty else { throw Unsound(problems: report.problems) }
    return value
  }
}

struct Unsound: Error {
  let problems: [PageFile.Problem]
}

extension Environment {
  func makeTree(_ name: String = "tree") throws -> Tree {
    try write { try createTree(named: name, in: $0) }
  }

  func value(_ tree: Tree, _ key: [UInt8]) throws -> [UInt8]? {
    try read { try $0.get(tree, key).map(Array.init) }
  }
}

/// The code of the error that `body` throws, if it is one of LMDB.
func code(of body: () throws -> Void) throws -> StorageError.Code? {
  do {
    try body()
    return nil
  } catch let error as StorageError {
    return error.code
  }
}

import EntityModel
import EntityStore
import Foundation

extension Store {
  /// The records of the entities that take feeds, without their object ids, one line each, sorted.
  func contentDump() throws -> [String] {
    try read { transaction in
      try ["Episode", "LearningPath"].flatMap { entity in
        try transaction.fetch(FetchRequest(entityName: entity)).map { record in
          entity + " "
            + record.fields.map { "\($0.name)=\($0.value.text.debugDescription)" }
            .joined(separator: " ")
        }.sorted()
      }
    }
  }

  /// The records of an entity with their object ids.
  func records(of entity: String) throws -> [String] {
    try fetch(FetchRequest(entityName: entity)).map { record in
      "\(record.id) "
        + record.fields.map { "\($0.name)=\($0.value.text.debugDescription)" }
        .joined(separator: " ")
    }
  }

  /// The bytes of the data file.
  func dataBytes() throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: folder + "/data.mdb"))
  }
}

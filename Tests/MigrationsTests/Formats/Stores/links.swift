import EntityModel
import EntityStore
import Foundation
import Migrations

// What no command can write: links of each kind, and how far a reader of the history has come. Then
// prints the links as they are read.
//
//     links <store> <folder of migrations>…
//
// With -D HISTORY for programs that keep one.
let arguments = CommandLine.arguments.dropFirst()
let store = try Store.open(
  at: arguments.first ?? "", migrations: arguments.dropFirst().map { .directory($0) })

func episode(_ number: Int64) -> ObjectID { ObjectID(entity: "Episode", number: number) }

try await store.write { transaction in
  func shelf(_ name: String) throws -> ObjectID {
    let request = FetchRequest(
      entityName: "Shelf", predicate: .comparison("name", .equal, .string(name)))
    return try transaction.fetch(request).first?.id
      ?? transaction.insert("Shelf", ["name": .string(name)])
  }
  let (kitchen, hall) = (try shelf("kitchen"), try shelf("hall"))
  try transaction.setRelated(episode(1), "next", to: episode(2))
  try transaction.setRelated(episode(2), "next", to: episode(3))
  try transaction.setRelated(episode(5), "next", to: episode(3))
  try transaction.setRelated(episode(1), "related", to: [episode(3), episode(9), episode(1)])
  try transaction.setRelated(episode(9), "related", to: [episode(10), episode(1)])
  try transaction.setRelated(
    kitchen, "boxed", to: [episode(9), episode(2), episode(4), episode(3)])
  try transaction.addRelated([episode(12)], to: kitchen, "boxed", at: 1)
  try transaction.moveRelated([episode(3)], of: kitchen, "boxed", to: 0)
  try transaction.removeRelated([episode(2)], from: kitchen, "boxed")
  try transaction.setRelated(hall, "boxed", to: [episode(11)])
}

#if HISTORY
  let read = try store.historyToken()
  try await store.write { try $0.advance(consumer: "mirror", to: read) }
  try await store.write(author: "later") { transaction in
    try transaction.update(episode(3)) { try $0.set("stars", to: 5) }
  }
#endif

try store.read { transaction in
  for entity in try store.schema.entities where !entity.name.hasPrefix("_") {
    let names = entity.relationships.filter { !$0.isHidden }.map(\.name)
    for record in try transaction.fetch(FetchRequest(entityName: entity.name)) {
      var links: [String: [String]] = [:]
      for name in names {
        let others = try transaction.related(record.id, name)
        if !others.isEmpty { links[name] = others.map { "\($0.entity)/\($0.number)" } }
      }
      let row: [String: Any] = ["_entity": entity.name, "_id": record.id.number, "_links": links]
      let json = try JSONSerialization.data(
        withJSONObject: row, options: [.sortedKeys, .withoutEscapingSlashes])
      print(String(decoding: json, as: UTF8.self))
    }
  }
}

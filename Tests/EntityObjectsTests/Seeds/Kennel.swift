import EntityModel
import EntityStore
import Foundation
import Migrations
import TestSupport

/// A schema with every type of attribute and every kind of link, and one seed in each format.
enum Kennel {
  static let source = MigrationSource(embedded: [("0001_kennel", Array(schema.utf8))])

  private static let schema = """
    line: kennel
    summary: Dogs, their walks, their owners and their vets
    steps:
      - createEntity:
          name: Walk
          attributes:
            - { name: date, type: date }
            - { name: kilometers, type: double, default: 1.5 }
      - createEntity:
          name: Dog
          attributes:
            - { name: name, type: string, maxLength: 20 }
            - { name: age, type: int64, optional: true, min: 0 }
            - { name: price, type: decimal, optional: true }
            - { name: isGood, type: bool, default: true }
            - { name: token, type: uuid, optional: true }
            - { name: photo, type: data, optional: true }
            - { name: page, type: url, optional: true }
            - { name: size, type: enum, values: { small: 1, large: 2 }, optional: true }
            - { name: tags, type: strings, optional: true }
            - { name: vetCode, type: string }
      - createEntity: { name: Owner, attributes: [{ name: name, type: string }] }
      - createEntity: { name: Vet, attributes: [{ name: code, type: string }] }
      - createIndex: { on: Dog, name: byName, keys: [name caseInsensitive], unique: true }
      - createIndex: { on: Vet, name: byCode, keys: [code], unique: true }
      - createRelationship:
          on: Walk
          name: dog
          to: Dog
          optional: false
          inverse: { name: walks, ordered: true, deleteRule: cascade }
      - createRelationship: { on: Dog, name: vet, to: Vet, key: { vetCode: code }, inverse: { name: patients, deleteRule: deny } }
      - createRelationship: { on: Dog, name: owner, to: Owner, inverse: { name: dogs } }
      - createRelationship: { on: Dog, name: friends, to: Dog, many: true, inverse: { name: friends } }
    """

  static let counts = ["Walk": 3, "Dog": 2, "Owner": 1, "Vet": 1]

  static let yaml = """
    # Walks stand before the dogs that they cannot be without.
    Walk:
      - { date: 2026-01-31T09:00:00Z, dog: { $label: fido } }
      - { date: 2026-02-01T09:30:00.5Z, kilometers: 4, dog: { name: REX } }
      - { date: 2026-02-02T09:00:00Z, kilometers: 2.25, dog: { name: Fido } }
    Dog:
      - $label: fido
        name: Fido
        age: 3
        price: 99.95
        isGood: false
        token: 6BA7B810-9DAD-11D1-80B4-00C04FD430C8
        photo: aGVsbG8=
        page: https://dogs.example/fido
        size: 2
        tags: [brown, "no"]
        vet: { code: v1 }
        owner: { $label: ada }
        friends: [{ name: Rex }]
      - { name: Rex, age: null, vet: { code: v1 }, price: 100 }
    Owner:
      - { $label: ada, name: Ada, dogs: [{ name: Rex }, { $label: fido }] }
    Vet:
      - { code: v1 }
    """

  static let json = """
    {
      "Vet": [{"code": "v1"}],
      "Owner": [{"$label": "ada", "name": "Ada", "dogs": [{"name": "Rex"}, {"$label": "fido"}]}],
      "Dog": [
        {
          "$label": "fido", "name": "Fido", "age": 3, "price": 99.95, "isGood": false,
          "token": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "photo": "aGVsbG8=",
          "page": "https:\\/\\/dogs.example\\/fido", "size": 2, "tags": ["brown", "no"],
          "vet": {"code": "v1"}, "owner": {"$label": "ada"}, "friends": [{"name": "Rex"}]
        },
        {"name": "Rex", "age": null, "vet": {"code": "v1"}, "price": 100}
      ],
      "Walk": [
        {"date": "2026-01-31T09:00:00Z", "dog": {"$label": "fido"}},
        {"date": "2026-02-01T09:30:00.5Z", "kilometers": 4, "dog": {"name": "REX"}},
        {"date": "2026-02-02T09:00:00Z", "kilometers": 2.25, "dog": {"name": "Fido"}}
      ]
    }
    """

  /// Returns the seed as Foundation writes it, with the keys in any order.
  static func propertyList(_ format: PropertyListSerialization.PropertyListFormat) throws -> Data {
    let day = Date(timeIntervalSince1970: 1_769_850_000)
    let root: [String: Any] = [
      "Walk": [
        ["date": day, "dog": ["$label": "fido"]],
        ["date": "2026-02-01T09:30:00.5Z", "kilometers": 4, "dog": ["name": "REX"]],
        ["date": day + 2 * 86_400, "kilometers": 2.25, "dog": ["name": "Fido"]],
      ] as [[String: Any]],
      "Dog": [
        [
          "$label": "fido", "name": "Fido", "age": 3, "price": 99.95, "isGood": false,
          "token": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "photo": Data("hello".utf8),
          "page": "https://dogs.example/fido", "size": 2, "tags": ["brown", "no"],
          "vet": ["code": "v1"], "owner": ["$label": "ada"], "friends": [["name": "Rex"]],
        ], ["name": "Rex", "vet": ["code": "v1"], "price": 100],
      ] as [[String: Any]],
      "Owner": [["$label": "ada", "name": "Ada", "dogs": [["name": "Rex"], ["$label": "fido"]]]],
      "Vet": [["code": "v1"]],
    ]
    return try PropertyListSerialization.data(fromPropertyList: root, format: format, options: 0)
  }

  static func propertyList(of text: String) -> Data {
    Data("<plist version=\"1.0\">\(text)</plist>".utf8)
  }
}

extension Store {
  /// Every record that is not of a system entity, with its values and the destinations of its
  /// relationships.
  func dump() throws -> [String] {
    try read { transaction in
      try transaction.schema.entities.filter { !$0.isSystem }.flatMap { entity in
        try transaction.fetch(FetchRequest(entityName: entity.name)).map { record in
          let values = record.fields.map { "\($0.name)=\($0.value.text)" }
          let links = try entity.relationships.map { relationship in
            "\(relationship.name)->\(try transaction.related(record.id, relationship.name))"
          }
          return "\(record.id) \((values + links).joined(separator: " "))"
        }
      }
    }
  }
}

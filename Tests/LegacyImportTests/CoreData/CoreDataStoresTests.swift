import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

@testable import LegacyImport

/// Suggestions for files that Core Data itself wrote, and for damaged variants of them.
@Suite(.enabled(if: LegacyStores.isHere, "\(LegacyStores.skipped)"))
struct CoreDataStoresTests {
  struct Store: Sendable, CustomTestStringConvertible {
    let path: String
    let columns: Int
    let entities: [String]
    var testDescription: String { path }
  }

  private static let books = [
    "Book: kind enum, cover data, pagesCount int64?, price decimal, publishedAt date, title string, uniqueID uuid, "
      + "isBlackAndWhite bool?; author -> Author, pages ->> Page cascade; unique uniqueID",
    "Feedback: authorAlias string, bookID uuid, comment string?, rating double",
    "Page: content data, isBookmarked bool, number int64; book -> Book",
    "Author: age int64, alias string, siteURL url?; books ->> Book cascade; unique alias",
  ]

  private static let bookmarks =
    "BookmarkEntity: isFolder bool, isPendingDeletion bool?, "
    + "lastChildrenPayloadReceivedFromSync string?, modifiedAt date?, title string?, url string?, "
    + "uuid string; children ->> BookmarkEntity ordered cascade, "
    + "favoriteFolders ->> BookmarkEntity, favorites ->> BookmarkEntity ordered, "
    + "parent -> BookmarkEntity"

  private static let podcasts = [
    "Feed: artwork data?, feedURL url, lastFetched date?, title string; items ->> Item ordered, "
      + "tags ->> Tag",
    "Item: kind enum, internalScore double?, guid string, identifier uuid, isRead bool, "
      + "publishedAt date?, title string, summary string?, wordCount int64?, chapters data?, "
      + "duration double?, enclosureURL url?, playState int64?, price decimal?; feed -> Feed, "
      + "playlists ->> Playlist",
    "Person: name string; friends ->> Person",
    "Playlist: name string, sortIndex int64; episodes ->> Item ordered", "Tag: label string",
  ]

  static let stores = [
    Store(path: "stores/coredataplus/SampleModel2_V1.sqlite", columns: 32, entities: books),
    Store(
      path: "stores/coredataplus/SampleModel2_V2.sqlite", columns: 31,
      entities: [
        books[0].replacing("cover", with: "frontCover"), books[1], books[2],
        books[3].replacing(", siteURL url?", with: ""),
      ]),
    Store(
      path: "stores/coredataplus/SampleModel3_V1.sqlite", columns: 5,
      entities: ["User: name string, petName string?"]),
    Store(
      path: "stores/coredataplus/SampleModel_V1.sqlite", columns: 17,
      entities: [
        "Car: kind enum, color data?, maker string?, markedForDeletionAsOf date?, model string?, "
          + "numberPlate string, isLimitedEdition bool?; owner -> Person; unique numberPlate",
        "Person: firstName string?, id uuid, lastName string?, updatedAt date; cars ->> Car; "
          + "unique firstName, lastName",
      ]),
    Store(
      path: "stores/coredataplus/SampleModel_V2.sqlite", columns: 15,
      entities: [
        "Car: kind enum, maker string?, markedForDeletionAsOf date?, model string?, "
          + "numberPlate string, isLimitedEdition bool?; owner -> Person; unique numberPlate",
        "Person: firstName string?, lastName string?, updatedAt date; cars ->> Car; "
          + "unique firstName, lastName",
      ]),
    Store(
      path: "stores/ddg-bookmarks-v1/Bookmarks_V1.sqlite", columns: 12,
      entities: [
        "BookmarkEntity: isFavorite bool, isFolder bool, title string?, url string?, uuid string; "
          + "children ->> BookmarkEntity ordered cascade, favoriteFolder -> BookmarkEntity, "
          + "favorites ->> BookmarkEntity ordered, parent -> BookmarkEntity"
      ]),
    Store(
      path: "stores/ddg-bookmarks-v3/Bookmarks_V3.sqlite", columns: 13,
      entities: [
        bookmarks.replacing("lastChildrenPayloadReceivedFromSync string?, ", with: "")
          .replacing("favoriteFolders ->>", with: "favoriteFolder ->")
      ]),
    Store(
      path: "stores/ddg-bookmarks-v5/Bookmarks_V5.sqlite", columns: 15, entities: [bookmarks]),
    Store(
      path: "stores/ddg-syncmetadata-v3/SyncMetadata_V3.sqlite", columns: 11,
      entities: [
        "SyncFeatureEntity: lastModified string?, name string, state string?; unique name",
        "SyncableSettingsMetadata: key string, lastModified date?; unique key",
      ]),
    Store(
      path: "stores/embrace-tmp/tmp_db.sqlite", columns: 9,
      entities: [
        "MetadataRecordTmp: collectedAt date?, key string?, lifespan string?, lifespanId string?, "
          + "type string?, value string?"
      ]),
    Store(path: "synthetic/Podcasts.sqlite", columns: 45, entities: podcasts),
    Store(path: "synthetic/PodcastsWal.sqlite", columns: 45, entities: podcasts),
    Store(path: "variants/coredata/external/Ext.sqlite", columns: 45, entities: podcasts),
    Store(path: "variants/coredata/stale_primarykey.sqlite", columns: 32, entities: books),
    Store(path: "variants/coredata/fok_gaps.sqlite", columns: 15, entities: [bookmarks]),
    Store(path: "variants/coredata/join_orphan.sqlite", columns: 15, entities: [bookmarks]),
    Store(path: "variants/coredata/orphan_rel.sqlite", columns: 32, entities: books),
    Store(path: "variants/coredata/bad_uuid_len.sqlite", columns: 32, entities: books),
  ]

  @Test(arguments: stores) func namesAndTypesAreThoseOfTheModel(store: Store) throws {
    let suggestion = try suggestion(of: store.path)
    #expect(try SuggestionText.entities(of: suggestion) == store.entities)
    let coverage = "\(store.columns) of \(store.columns) columns explained by the model"
    #expect(suggestion.mapping.evidence.contains(coverage), "\(suggestion.mapping.evidence)")
  }

  @Test(
    arguments: [
      ("stores/ios-datausage/DataUsage.sqlite", 108, 9),
      ("stores/ios-netusage/netusage.sqlite", 248, 17),
      ("stores/macos-knowledgec-10.13/knowledgec-10.13.db", 243, 10),
    ])
  func everyColumnOfALargeModelIsExplained(path: String, columns: Int, entities: Int) throws {
    let suggestion = try suggestion(of: path)
    let coverage = "\(columns) of \(columns) columns explained by the model"
    #expect(suggestion.mapping.evidence.contains(coverage), "\(suggestion.mapping.evidence)")
    #expect(try SuggestionText.entities(of: suggestion).count == entities)
  }

  @Test func theKindOfAProcessIsAnEnumeration() throws {
    let suggestion = try suggestion(of: "stores/ios-netusage/netusage.sqlite")
    let process = try SuggestionText.entities(of: suggestion).first { $0.hasPrefix("Process:") }
    #expect(
      process == "Process: kind enum, bundleName string?, firstTimeStamp date?, procName string?, "
        + "timeStamp date?; hasAppDomainUsage ->> AppDomainUsage cascade, "
        + "hasAppExperience ->> AppExperience cascade, hasAppRun ->> AppRun, "
        + "hasCalendarUsage ->> AppCalendarUsage, hasLiveUsage ->> LiveUsage cascade, "
        + "hasTypicalUsage ->> AppTypicalUsage ordered")
  }

  @Test(
    arguments: [
      ("null_ent", "rows of ZBOOK that no entity takes, for Z_ENT is null: 2"),
      ("unknown_ent", "rows of ZBOOK of an entity that is not known: 3"),
      ("stale_primarykey", "the entity Book stands in the file as OldBook"),
      ("external/Ext", "cells of external storage that hold no value and name no file: 2"),
      ("external/Ext", "external files that are missing beside the source: 1"),
      ("no_modelcache", "the file holds no model"),
      ("null_modelcache_and_plist", "the file has no metadata but its identity"),
      ("garbage_modelcache", "the model in the file cannot be read: it is no DEFLATE"),
      ("bomb_modelcache", "it inflates to more than 33554432 bytes"),
    ])
  func theProblemsOfAVariantAreReported(name: String, warning: String) throws {
    let warnings = try suggestion(of: "variants/coredata/\(name).sqlite").warnings
    #expect(warnings.contains { $0.contains(warning) }, "\(warnings)")
  }

  @Test(arguments: [
    "no_modelcache", "null_modelcache_and_plist", "garbage_modelcache", "bomb_modelcache",
  ])
  func withoutAModelColumnsAreGuessedAndLinksMustBeConfirmed(name: String) throws {
    let suggestion = try suggestion(of: "variants/coredata/\(name).sqlite")
    #expect(
      try SuggestionText.entities(of: suggestion) == [
        "BookmarkEntity: isfolder int64?, ispendingdeletion int64?, "
          + "lastchildrenpayloadreceivedfromsync string?, modifiedat date?, title string?, "
          + "url string?, uuid string?; bookmarkentitys_parent ->> BookmarkEntity ordered, "
          + "favoritefolders ->> BookmarkEntity, favorites ->> BookmarkEntity ordered, "
          + "parent -> BookmarkEntity"
      ])
    #expect(suggestion.mapping.entities[0].relationships.count == 2)
    #expect(suggestion.mapping.entities[0].relationships.allSatisfy { $0.unconfirmed != nil })
  }

  /// A prototype in another language read the same files.
  @Test(
    arguments: [
      ("coredataplus", "stores/coredataplus/SampleModel2_V1.sqlite"),
      ("ddg-bookmarks-v5", "stores/ddg-bookmarks-v5/Bookmarks_V5.sqlite"),
      ("synthetic-Podcasts", "synthetic/Podcasts.sqlite"),
      ("synthetic-PodcastsWal", "synthetic/PodcastsWal.sqlite"),
    ])
  func columnsAndLinksAreAsTheyWereFoundBefore(mapping: String, path: String) throws {
    let data = try Data(contentsOf: URL(filePath: LegacyStores.path("mappings/\(mapping).json")))
    let earlier = try JSONDecoder().decode(Earlier.self, from: data)
    let suggestion = try suggestion(of: path)
    let concrete = earlier.entities.filter { !$0.abstract }
    #expect(suggestion.mapping.entities.count == concrete.count)
    for entity in concrete {
      let number = entity.where.replacing("Z_ENT = ", with: "")
      let found = try #require(
        suggestion.mapping.entities.first {
          $0.table == entity.table && $0.filter.isOneOf["Z_ENT"] == [number]
        })
      let columns = found.attributes.compactMap { attribute -> String? in
        guard case .column(let column) = attribute.source else { return nil }
        return "\(attribute.evidence.first?.split(separator: ":")[1] ?? ""):\(column)"
      }
      let expected = entity.attributes.map { " \($0.key):\($0.value.column)" }
      #expect(columns.sorted() == expected.sorted())
      for case .join(let table, let owner, let target, let order) in found.relationships.map(
        \.source)
      where table.hasPrefix("Z_") {
        #expect(
          entity.relationships.values.contains {
            $0.joinTable == table && $0.ownerColumn == owner[0] && $0.targetColumn == target[0]
              && $0.orderColumn == order
          })
      }
    }
  }

  private struct Earlier: Decodable {
    struct Entity: Decodable {
      let table, `where`: String
      let abstract: Bool
      let attributes: [String: Attribute]
      let relationships: [String: Relationship]
    }
    struct Attribute: Decodable {
      let column: String
    }
    struct Relationship: Decodable {
      let joinTable, ownerColumn, targetColumn, orderColumn: String?
    }
    let entities: [Entity]
  }

  private func suggestion(of path: String) throws -> SuggestedImport {
    try withTemporaryFolder { folder in
      let database = try SourceDatabase(
        SourceSnapshot.take(of: LegacyStores.path(path), in: folder.path))
      let suggestion = try CoreDataSuggestion.suggestedImport(of: database, named: "legacy")
      try SuggestionText.check(suggestion, database.tables)
      return suggestion
    }
  }
}

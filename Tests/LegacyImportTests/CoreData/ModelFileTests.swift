import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

@testable import LegacyImport

/// Models that Xcode keeps as XML.
@Suite struct ModelFileTests {
  @Test func theModelOfXcodeIsThatOfTheArchive() throws {
    #expect(try ModelXML.model(in: Array(Self.xml.utf8)) == Podcasts.model())
  }

  @Test func aModelHasABoundedNumberOfEntities() throws {
    func model(of count: Int) throws -> ManagedObjectModel {
      let entities = (0..<count).map { "<entity name=\"E\($0)\"/>" }
      return try ModelXML.model(in: Array("<model>\(entities.joined())</model>".utf8))
    }
    #expect(try model(of: ModelLimits.entitiesMax).entities.count == ModelLimits.entitiesMax)
    #expect(throws: (any Error).self) { try model(of: ModelLimits.entitiesMax + 1) }
  }

  @Test func namesOfOlderVersionsDefaultsAndRulesAreRead() throws {
    let model = try ModelXML.model(
      in: Array(
        """
        <model><entity name="Feed" elementID="Channel">
          <attribute name="at" attributeType="Date" defaultDateTimeInterval="0"/>
          <attribute name="never" attributeType="Date" defaultDateTimeInterval="-63114076800"/>
          <attribute name="count" attributeType="Integer 16" defaultValueString="7"/>
          <attribute name="length" attributeType="Float" defaultValueString="1.5"/>
          <attribute name="home" attributeType="Composite"/>
          <attribute name="title" attributeType="String" defaultValueString="a &amp; b"
            elementID="name" derived="YES" derivationExpression="now()"/>
          <relationship name="items" toMany="YES" deletionRule="Deny" destinationEntity="Feed"
            elementID="entries"/>
          <relationship name="one" maxCount="1" deletionRule="No Action" destinationEntity="Feed"/>
        </entity><configuration name="x"><memberEntity name="Feed"/></configuration></model>
        """.utf8))
    let feed = try #require(model.entities.first)
    #expect(feed.renamingIdentifier == "Channel" && model.entities.count == 1)
    func attribute(_ name: String) throws -> ManagedObjectModel.Attribute {
      try #require(feed.attributes.first { $0.name == name })
    }
    #expect(try attribute("at").defaultValue.text == "2001-01-01T00:00:00Z")
    #expect(try attribute("never").defaultValue == .null)
    #expect(try attribute("count").defaultValue == .int64(7))
    #expect(try attribute("length").defaultValue == .double(1.5))
    #expect(try attribute("home").type == .composite)
    let title = try attribute("title")
    #expect(title.defaultValue == .string("a & b") && title.renamingIdentifier == "name")
    #expect(title.isDerived && !title.isOptional)
    #expect(feed.relationships.map(\.deleteRule) == [.deny, .noAction])
    #expect(feed.relationships.map(\.isToMany) == [true, false])
    #expect(feed.relationships.map(\.renamingIdentifier) == ["entries", nil])
  }

  @Test func withoutAModelAColumnThatIsCalledLikeAnEntityMayBeALink() throws {
    let changes = "DELETE FROM Z_MODELCACHE; ALTER TABLE ZITEM DROP COLUMN Z_FOK_FEED;"
    try withStore(changes) { _, path in
      let mapping = try LegacyFile(path).inspect().mapping
      let words = mapping.split { " #\n".contains($0) }.joined(separator: " ")
      #expect(words.contains("it is called like the entity Feed: a link, or a number?"))
    }
  }

  /// A folder, the file in it, and a folder of several versions.
  @Test func aStoreWithoutAModelIsInspectedWithTheGivenOne() throws {
    try withStore("DELETE FROM Z_MODELCACHE;") { folder, path in
      let complete = folder.path("complete.sqlite")
      try MadeDatabase.make(at: complete, Podcasts.sql())
      let expected = try LegacyFile(complete).inspect(name: "podcasts")
      let guessed = try LegacyFile(path).inspect()
      #expect(guessed.migration != expected.migration)
      let versions = folder.path("Podcasts.xcdatamodeld")
      try write("<model/>", to: versions + "/Podcasts.xcdatamodel")
      try write(Self.xml, to: versions + "/Podcasts 2.xcdatamodel")
      let setting = try PropertyListSerialization.data(
        fromPropertyList: ["_XCCurrentVersionName": "Podcasts 2.xcdatamodel"], format: .xml,
        options: 0)
      try setting.write(to: URL(filePath: versions + "/.xccurrentversion"))
      let model = versions + "/Podcasts 2.xcdatamodel"
      for given in [versions, model, model + "/contents"] {
        let proposal = try LegacyFile(path).inspect(model: given)
        #expect(proposal.migration == expected.migration)
        #expect(proposal.mapping == expected.mapping)
        #expect(proposal.warnings == expected.warnings)
      }
    }
  }

  @Test(arguments: [
    ("", "it is empty"), ("<model>", "no well-formed XML"), ("<plist/>", "not <model>"),
    ("<model><entity/></model>", "no usable name"),
    ("<!DOCTYPE model><model/>", "no well-formed XML"),
    ("<model><entity name='A' parentEntity='B'/></model>", "the entity above A"),
    ("bplist00", "no well-formed XML"),
  ])
  func whatIsNoModelIsRefused(text: String, problem: String) throws {
    try withTemporaryFolder { folder in
      try write(text, to: folder.path("A.xcdatamodel"))
      let error = #expect(throws: ImportError.self) {
        try ModelFile.model(at: folder.path("A.xcdatamodel"))
      }
      #expect(error?.code == .damaged && error?.description.contains(problem) == true, "\(text)")
    }
  }

  @Test func aModelThatIsNotThereOrNotOfTheFileIsRefused() throws {
    try withStore("") { folder, path in
      func code(_ model: String) -> ImportError.Code? {
        #expect(throws: ImportError.self) { try LegacyFile(path).inspect(model: model) }?.code
      }
      #expect(code(folder.path("none.xcdatamodel")) == .missing)
      try write("<model/>", to: folder.path("Two.xcdatamodeld/A.xcdatamodel"))
      try write("<model/>", to: folder.path("Two.xcdatamodeld/B.xcdatamodel"))
      #expect(code(folder.path("Two.xcdatamodeld")) == .missing)
      let other = "<model><entity name='Other'/><entity name='Else'/></model>"
      try write(other, to: folder.path("Other.xcdatamodel"))
      #expect(code(folder.path("Other.xcdatamodel")) == .mapping)
      try write(Self.xml, to: folder.path("A.xcdatamodel"))
      let plain = folder.path("plain.db")
      try MadeDatabase.make(at: plain, "CREATE TABLE a (b)")
      let error = #expect(throws: ImportError.self) {
        try LegacyFile(plain).inspect(model: folder.path("A.xcdatamodel"))
      }
      #expect(error?.description.contains("leave out --model") == true)
    }
  }

  // MARK: Files

  private func withStore(
    _ change: String, _ body: (TemporaryFolder, String) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      let path = folder.path("podcasts.sqlite")
      try MadeDatabase.make(at: path, Podcasts.sql(change))
      try body(folder, path)
    }
  }

  private func write(_ xml: String, to folder: String) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(xml.utf8).write(to: URL(filePath: folder + "/contents"))
  }

  /// The model of ``Podcasts``.
  private static let xml = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"
      minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="7">
      <entity name="Article" representedClassName="Article" parentEntity="Item" syncable="YES">
        <attribute name="summary" optional="YES" attributeType="String"/>
        <attribute name="wordCount" optional="YES" attributeType="Integer 32"
          usesScalarValueType="YES"/>
      </entity>
      <entity name="Episode" representedClassName="Episode" parentEntity="Item" syncable="YES">
        <attribute name="chapters" optional="YES" attributeType="Transformable"/>
        <attribute name="duration" optional="YES" attributeType="Double"/>
        <attribute name="price" optional="YES" attributeType="Decimal"/>
        <attribute name="summary" optional="YES" attributeType="String"/>
        <relationship name="playlists" optional="YES" toMany="YES" deletionRule="Nullify"
          destinationEntity="Playlist" inverseName="episodes" inverseEntity="Playlist"/>
      </entity>
      <entity name="Feed" representedClassName="Feed" syncable="YES">
        <attribute name="artwork" optional="YES" attributeType="Binary"
          allowsExternalBinaryDataStorage="YES"/>
        <attribute name="badge" optional="YES" transient="YES" attributeType="String"/>
        <attribute name="feedURL" attributeType="URI"/>
        <attribute name="lastFetched" optional="YES" attributeType="Date"/>
        <attribute name="title" attributeType="String"/>
        <relationship name="items" optional="YES" toMany="YES" deletionRule="Cascade"
          ordered="YES" destinationEntity="Item" inverseName="feed" inverseEntity="Item"/>
        <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify"
          destinationEntity="Tag"/>
        <fetchedProperty name="recent" optional="YES">
          <fetchRequest name="recent" entity="Item" predicateString="isRead == NO"/>
        </fetchedProperty>
      </entity>
      <entity name="Item" representedClassName="Item" isAbstract="YES" syncable="YES">
        <attribute name="_internalScore" optional="YES" attributeType="Double"/>
        <attribute name="age" optional="YES" attributeType="Integer 64" derived="YES"
          derivationExpression="now()"/>
        <attribute name="guid" attributeType="String"/>
        <attribute name="identifier" attributeType="UUID"/>
        <attribute name="isRead" attributeType="Boolean" defaultValueString="NO"/>
        <attribute name="publishedAt" optional="YES" attributeType="Date"/>
        <attribute name="title" attributeType="String"/>
        <relationship name="feed" maxCount="1" deletionRule="Nullify" destinationEntity="Feed"
          inverseName="items" inverseEntity="Feed"/>
        <fetchIndex name="byTitle">
          <fetchIndexElement property="title" type="Binary" order="ascending"/>
        </fetchIndex>
        <uniquenessConstraints>
          <uniquenessConstraint><constraint value="guid"/></uniquenessConstraint>
        </uniquenessConstraints>
      </entity>
      <entity name="Person" representedClassName="Person" syncable="YES">
        <attribute name="name" attributeType="String"/>
        <relationship name="friends" optional="YES" toMany="YES" deletionRule="Nullify"
          destinationEntity="Person" inverseName="friends" inverseEntity="Person"/>
      </entity>
      <entity name="Playlist" representedClassName="Playlist" syncable="YES">
        <attribute name="name" attributeType="String"/>
        <relationship name="episodes" optional="YES" toMany="YES" deletionRule="Nullify"
          ordered="YES" destinationEntity="Episode" inverseName="playlists"
          inverseEntity="Episode"/>
        <userInfo><entry key="note" value="of the reader"/></userInfo>
      </entity>
      <entity name="Tag" representedClassName="Tag" syncable="YES">
        <attribute name="label" attributeType="String"/>
      </entity>
    </model>
    """
}

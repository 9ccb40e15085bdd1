import EntityModel
import EntityStore
import FeedDocuments
package import Foundation
package import HTTPClient
package import Migrations

/// Inspects a URL with one request, under the same rules as a sync, and stores nothing.
package struct FeedInspector: Sendable {
  /// The parameters of an inspection.
  package struct Request: Sendable {
    package var url: String
    /// The secrets and limits of the request.
    package var settings: Feeds.Settings
    /// The entity of the items, which need not exist yet.
    package var entity: String
    /// The name of the mapping and of the migration line; nil for one derived from the URL.
    package var name: String?

    package init(
      url: String, settings: Feeds.Settings = Feeds.Settings(), entity: String,
      name: String? = nil
    ) {
      self.url = url
      self.settings = settings
      self.entity = entity
      self.name = name
    }
  }

  private let transport: any HTTPTransport
  private let lines: [MigrationLine]
  private let schema: Schema
  private let now: Date

  /// - Parameter lines: The migrations of the feed's store.
  /// - Throws: `StoreError` if the migrations do not fit together.
  package init(transport: any HTTPTransport, lines: [MigrationLine], now: Date = Date()) throws {
    self.transport = transport
    self.lines = lines
    schema = try Schema(of: lines)
    self.now = now
  }

  /// Sends one unconditional request, and inspects its answer.
  ///
  /// - Throws: `HTTPError`; `SyncError` for a status other than 200, a document that is neither a
  ///   feed nor JSON, or an entity that cannot take a feed.
  package func inspect(_ request: Request) async throws -> FeedInspection {
    let entity = schema.entity(named: request.entity)
    let isOfSystem = entity?.isSystem ?? request.entity.hasPrefix("_")
    if isOfSystem || entity.map({ $0.attribute(named: "feedID") == nil }) ?? false {
      throw SyncError(
        .missingTarget, "the entity cannot take a feed", [("entity", request.entity)],
        advice: "name another one with --entity, or a new one, which is then created")
    }
    let response = try await answer(to: request)
    let document = try Self.read(response, request.url)
    var inspection = inspection(of: document, response, request)
    inspection.notes = try faults(of: document, response, request) + inspection.notes
    return inspection
  }

  private func answer(to request: Request) async throws -> HTTPResponse {
    var feed = Feed(url: request.url, entity: request.entity, addedAt: now)
    feed.apply(request.settings)
    var source = PageSource(
      transport: transport, feed: feed, secrets: try feed.secrets.read(),
      mappings: try FeedMappings(nil, schema: schema, entity: request.entity))
    source.limitCommand = nil
    let question = PageRequest(
      url: request.url, isFirst: true, conditions: nil, bodyHash: nil,
      allowsPrivateAddresses: true, document: DocumentSource())
    let response = try await source.send(question, nil)
    guard response.status == 200 else { throw source.failure(response, request.url) }
    return response
  }

  private static func read(_ response: HTTPResponse, _ url: String) throws -> DocumentInspection {
    let source = DocumentSource(
      contentType: response.header("Content-Type"), url: response.effectiveURL)
    return try response.body.withUnsafeBytes { bytes in
      do throws(DocumentError) {
        return try DocumentInspection(
          bytes, source, linkHeader: response.headers(named: "Link"))
      } catch {
        throw SyncError(
          .badDocument, "the document cannot be read",
          [("url", shownURL(url)), ("reason", error.description)],
          advice: advice(on: error, bytes, source))
      }
    }
  }

  private static func advice(
    on error: DocumentError, _ bytes: UnsafeRawBufferPointer, _ source: DocumentSource
  ) -> String {
    guard error.code == .htmlPage else {
      return "look at it with another program; a feed is RSS, Atom or JSON"
    }
    guard let page = FeedLinks(bytes, contentType: source.contentType), let link = page.links.first
    else { return "look on the page for the URL of its feed, and inspect that one" }
    let base = page.base.map { URLReference.resolve($0, base: source.url) } ?? source.url
    let feed = shownURL(URLReference.resolve(link.href, base: base))
    return "inspect the feed that the page names: `mooring feed inspect \(feed)`"
  }

  /// Returns the faults that a sync would report for a format that needs no mapping.
  private func faults(
    of document: DocumentInspection, _ response: HTTPResponse, _ request: Request
  ) throws -> [String] {
    guard document.format != .json, schema.entity(named: request.entity) != nil else { return [] }
    let mappings = try FeedMappings(nil, schema: schema, entity: request.entity)
    let source = DocumentSource(
      contentType: response.header("Content-Type"), url: response.effectiveURL)
    return response.body.withUnsafeBytes { bytes in
      do throws(DocumentError) {
        var report = SyncReport(feed: request.url)
        report.count(try FeedPage.parse(bytes, source, by: mappings))
        return report.warnings
      } catch {
        return ["a sync cannot read the document: \(error)"]
      }
    }
  }

  private func inspection(
    of document: DocumentInspection, _ response: HTTPResponse, _ request: Request
  ) -> FeedInspection {
    let promise = Freshness.promise(of: response, now: now)
    let facts = document.facts
    let profile = facts.profile
    let search = profile.map { IdentitySearch($0, lengthMax: idLengthMax(of: request.entity)) }
    var inspection = FeedInspection(
      url: shownURL(request.url), finalURL: shownURL(response.effectiveURL),
      redirects: response.redirects.map { .init(status: $0.status, to: shownURL($0.to)) },
      status: response.status, contentType: response.header("Content-Type"),
      etag: response.header("ETag"), lastModified: response.header("Last-Modified"),
      freshForSeconds: Freshness.lifetime(
        promise, timeToLive: facts.timeToLive, isOwn: document.format == .homeFeed1),
      format: document.format.rawValue, encoding: document.encoding, title: facts.title,
      bytes: response.body.count, wireBytes: response.wireBytes, items: facts.items,
      path: facts.path, otherPaths: facts.otherPaths, itemsLookedAt: profile?.items ?? 0,
      members: (profile?.members ?? []).map(FeedInspection.Member.init),
      hasMoreMembers: profile?.hasMore ?? false,
      candidates: profile.map { .init(MemberRoles($0), id: search?.likely ?? []) } ?? .init(),
      identity: search?.choice.map(FeedInspection.Identity.init),
      notIdentity: search?.refused ?? [],
      next: facts.paging?.next, checkpoint: facts.paging?.checkpoint,
      name: request.name ?? Self.name(of: request.url), entity: request.entity,
      newAttributes: [], unconfirmed: [], notes: Self.notes(on: document))
    if document.format == .json {
      suggest(document, search?.choice, into: &inspection)
    } else {
      offerBuiltIn(document, into: &inspection)
    }
    return inspection
  }

  /// Returns the maximum length of an id that the entity allows; nil if it allows those that a sync
  /// does not replace by their hash.
  private func idLengthMax(of entity: String) -> Int? {
    let id = schema.entity(named: entity)?.attribute(named: "id")
    return id?.validation.maxLength.flatMap { $0 < DocumentLimits.idBytesMax ? $0 : nil }
  }

  private static func notes(on document: DocumentInspection) -> [String] {
    var notes: [String] = []
    if !document.isComplete { notes.append("the document is incomplete") }
    if document.facts.path == nil {
      notes.append("no list of objects was found in the document, so there are no items to map")
    } else if document.facts.items == 0 {
      notes.append("the list of items is empty; inspect it again when it has some")
    }
    if let repeated = document.facts.profile?.repeated, repeated > 0 {
      notes.append(
        repeated == 1
          ? "1 item is exactly the same as an earlier one"
          : "\(repeated) items are exactly the same as earlier ones")
    }
    return notes
  }

  // MARK: Files

  private func suggest(
    _ document: DocumentInspection, _ identity: IdentityChoice?,
    into inspection: inout FeedInspection
  ) {
    guard let profile = document.facts.profile, profile.items > 0, let path = document.facts.path,
      let paging = document.facts.paging
    else { return }
    guard let identity else {
      inspection.notes.append(Self.withoutIdentity(inspection.notIdentity))
      return
    }
    let entity = schema.entity(named: inspection.entity)
    let suggested = SuggestedFeedMapping(
      profile, path: path, identity: identity, paging: paging, entity: entity)
    let made = suggested.attributes + (suggested.extra.map { [$0] } ?? [])
    inspection.migration = SuggestedFeedMigration.text(
      line: inspection.name, entity: inspection.entity, attributes: made, beside: lines,
      schema: schema)
    func text(hasNew: Bool) -> String {
      suggested.text(
        name: inspection.name, entity: inspection.entity, origin: inspection.url, hasNew: hasNew)
    }
    // All attributes of a new entity are new.
    inspection.mapping = text(hasNew: entity == nil)
    inspection.wholeMapping = text(hasNew: true)
    inspection.newAttributes = made.filter { $0.newType != nil }.map(\.name)
    inspection.unconfirmed = suggested.unconfirmed + unmapped(suggested, entity)
  }

  private static func withoutIdentity(_ reasons: [String]) -> String {
    let why = reasons.isEmpty ? "they have no texts or numbers" : reasons.joined(separator: "; ")
    return "no member identifies the items, so no mapping can be suggested: \(why)"
  }

  /// Returns the required attributes that the mapping does not fill.
  private func unmapped(
    _ suggested: SuggestedFeedMapping, _ entity: EntityDescription?
  ) -> [String] {
    let mapped = Set(suggested.attributes.map(\.name) + suggested.head.map(\.key))
    let required = (entity?.attributes ?? []).filter { attribute in
      attribute.isRequiredOfFeeds && !FeedTarget.own.contains(attribute.name)
        && !mapped.contains(attribute.name)
    }
    return required.map { "\($0.name): an item must have it, and nothing was found for it" }
  }

  private func offerBuiltIn(_ document: DocumentInspection, into inspection: inout FeedInspection) {
    guard let text = FeedMappings.builtInText(document.format) else {
      inspection.builtIn = document.format.rawValue
      return
    }
    inspection.builtIn = text.text
    let own = OwnedFeedMapping(
      builtIn: text.fullText, name: inspection.name, entity: inspection.entity,
      description: schema.entity(named: inspection.entity))
    inspection.mapping = own.text(hasNew: schema.entity(named: inspection.entity) == nil)
    inspection.wholeMapping = own.text(hasNew: true)
    let made = own.attributes + (own.extra.map { [$0] } ?? [])
    inspection.migration = SuggestedFeedMigration.text(
      line: inspection.name, entity: inspection.entity, attributes: made, beside: lines,
      schema: schema)
    inspection.newAttributes = made.filter { $0.newType != nil }.map(\.name)
  }

  /// Returns a name such as `api-example-org` for `https://api.example.org/v1/talks`.
  private static func name(of url: String) -> String {
    let host = URL(string: url)?.host ?? ""
    let words = NameWords(host).words.filter { $0 != "www" }.joined(separator: "-")
    let isName = words.first?.isLetter ?? false
    return String((isName ? words : words.isEmpty ? "feed" : "feed-" + words).prefix(48))
  }
}

extension FeedInspection.Member {
  fileprivate init(_ profile: MemberProfile) {
    pointer = profile.pointer
    present = profile.present
    types = profile.kinds.map(\.rawValue) + (profile.nulls > 0 ? ["null"] : [])
    looksLike = profile.look?.rawValue
    different = profile.values.count > 0 ? profile.different : nil
    isUnique = profile.isUnique
    example = profile.example
  }
}

extension FeedInspection.Identity {
  fileprivate init(_ choice: IdentityChoice) {
    (pointers, isHash) = (choice.members.map(\.pointer), choice.isHash)
    (present, different) = (choice.count.present, choice.count.different)
    reason = choice.reason
  }
}

extension FeedInspection.Candidates {
  fileprivate init(_ roles: MemberRoles, id pointers: [String]) {
    (id, title) = (pointers, roles.title.map(\.pointer))
    (summary, url) = (roles.summary.map(\.pointer), roles.url.map(\.pointer))
    (updatedAt, publishedAt) = (roles.updated.map(\.pointer), roles.published.map(\.pointer))
  }
}

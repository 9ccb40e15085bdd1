// The one module that an embedder imports.
@_exported public import DurableJobs
@_exported public import EntityModel
@_exported public import EntityObjects
@_exported public import EntityStore
@_exported public import FeedDocuments
@_exported public import FeedSync
@_exported public import HTTPClient
@_exported public import HomeFeed
@_exported public import LegacyImport
@_exported public import Maintenance
@_exported public import Migrations
@_exported public import StoreFigures
@_exported public import StoreJobs

/**
 * The plugin contract and public surface (`aos/plugin`), from which docs/plugin-api.md is
 * generated. Only a breaking change increments `PLUGIN_API`.
 */
export type { CommandCall, CommandOption, CommandResult, CommandSpec } from './command.js';
export type { Manifest, Migration, MigrationContext } from './manifest.js';
export {
  definePlugin,
  PLUGIN_API,
  type HealthResult,
  type Plugin,
  type PluginContext,
  type PluginParts,
} from './plugin.js';
export { added, addedBy, collection, PORT, type Addition, type AppSettings } from './ports.js';
export type { CorePorts, DeclaredPorts, Ports } from '../../ports/ports.js';
export { listen } from '../../ports/events.js';
export { event, extend, extensionPoint, perPlugin, token } from '../../ports/token.js';
export type {
  RequestingPlugin,
  EventType,
  Extension,
  ExtensionPoint,
  PerPlugin,
  Token,
  TokenValues,
} from '../../ports/token.js';
export { joi } from './joi.js';
export type { ObjectSchema, Schema } from 'joi';
export { bindAll, inject, injectable, type Class, type Key } from '../inject.js';
export type { Instances } from '../container.js';
export {
  createFormPage,
  orAgain,
  createPageActions,
  formatProblem,
  type PageAction,
  type FormRejection,
} from '../forms/form-pages.js';
export { getFormFields } from '../forms/form-fields.js';
export { fromForm } from '../forms/form-validation.js';
export { getSecondsUntil } from '../forms/last-day.js';
export type { HeldLock } from '../locks.js';
export { LeaseLost } from '../../lib/lease.js';
export { isTimeZone, toLocalTime, utcOfLocal } from '../../lib/local-time.js';
export { timeParameter } from '../parameters.js';
export {
  conflict,
  denied,
  requireProject,
  unknownProject,
  invalid,
  invalidQuery,
  notFound,
  owned,
  ownedOrNull,
  rateLimited,
  refusals,
  refuse,
  ServiceError,
  type ErrorCatalog,
  type ErrorCode,
  type ErrorOptions,
} from '../errors.js';

export type { Clock } from '../../ports/clock.js';
export type { DomainEvent, ListenSpec } from '../../ports/events.js';
export type { Ids } from '../../ports/ids.js';
export type { JobSpec } from '../../ports/jobs.js';
export type { Logger } from '../../ports/logger.js';
export type { BackupInfo, Backups } from '../../ports/store/backups.js';
export type { StoreExaminationResult } from '../../ports/store/examination.js';
export type * from '../../ports/cipher.js';
export type * from '../../ports/hasher.js';
export * from '../../ports/yaml-parser.js';
export type * from '../../ports/installers.js';
export type * from '../../ports/manual.js';
export type * from '../../ports/jobs.js';
export type * from '../../ports/metrics.js';
export type * from '../../ports/outbound.js';
export type * from '../../ports/network-probe.js';
export type * from '../../ports/processes.js';
export type * from '../../ports/signer.js';
export type * from '../../ports/store/index.js';
export type * from '../../ports/tools.js';
export { mergePages } from '../../ports/cursor.js';
export { matchesFilter } from '../../ports/document.js';
export { OutboundError } from '../../ports/outbound.js';
export {
  DiskFull,
  DiskUnwritable,
  FolderTaken,
  FileReplaced,
  PackageRejected,
  PackageTooLarge,
  type AccessFile,
  type ManifestTexts,
  type PackageContents,
  type PackagedFile,
  type ReleaseLocation,
  type ReleaseStore,
  type StagedPackage,
  type StoredFile,
} from '../../ports/release-store.js';
export {
  SourceMapRejected,
  type BundledFile,
  type LocateRequest,
  type PackedUpload,
  type PackedFile,
  type ScriptPosition,
  type SourceMaps,
  type SourcePosition,
  type UploadedBytes,
} from '../../ports/source-map-reader.js';
export { removeAll } from '../../ports/store/remove-all.js';
export { InvalidCursor, StoreConflict, StoreDamaged } from '../../ports/store/index.js';
export {
  findReadable,
  SkippedDocuments,
  hideDocumentNames,
  pickWarnings,
  type ReadablePage,
  type ListWarnings,
} from '../../ports/store/skipped-documents.js';
export { CorruptionReporter } from '../../ports/store/corruption-reporter.js';
export { deleted, createPageSchema, MANAGED_FIELD, whole } from '../response-schemas.js';
export {
  created,
  EventStreamAnswer,
  FileAnswer,
  JsonText,
  withSchemaName,
  Redirect,
  Reply,
  SharedBytes,
  withJsonSchema,
  createCsvFile,
  text,
  hideFromOpenApi,
  View,
  getTimeZone,
} from '../../ports/http/index.js';
export type {
  FormFile,
  CustomHosts,
  PageSpec,
  PanelSpec,
  RouteSpec,
  Access,
  AccessRule,
  Answer,
  Authenticator,
  BodyFilter,
  FormRunResult,
  FormResultStore,
  ChoosableProject,
  ProjectChoices,
  SessionRef,
  HttpRequest,
  StreamableFile,
  BasicCredentials,
  BasicGuard,
  BasicRequest,
  BasicDecision,
  ServerSentEvent,
  UploadedBody,
  PageResult,
  Principal,
  RequestRejection,
  Role,
  SessionPrincipal,
  StreamedInput,
  TokenKind,
  TokenPrincipal,
  ToolSpec,
} from '../../ports/http/index.js';

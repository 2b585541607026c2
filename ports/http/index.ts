/** Routes and pages as data, independent of the web server. */
export type { Access, AccessRule } from './access.js';
export { Answer, createCsvFile, created, Reply, text, type Cookie } from './answer.js';
export type { Authenticator, RequestRejection } from './authenticator.js';
export type { BasicCredentials, BasicGuard, BasicPrincipal, BasicRequest, BasicDecision } from './basic.js';
export { EventStreamAnswer, type EventStreamOptions, type ServerSentEvent } from './event-stream.js';
export { FileAnswer, type StreamableFile } from './file-answer.js';
export type { FormRunResult, FormResultStore, SessionRef } from './form-results.js';
export { JsonText } from './json-text.js';
export type { ErrorCodes, MountedHosts, MountedPage, MountedPanel, MountedRoute } from './mounted.js';
export type { CustomHosts } from './custom-hosts.js';
export {
  PANEL_KINDS,
  type FormFile,
  type NavGroup,
  type NavSection,
  type PageNav,
  type PageResult,
  type PageSpec,
  type PanelKind,
  type PanelSpec,
} from './page.js';
export {
  getTimeZone,
  type Principal,
  type Role,
  type SessionPrincipal,
  type TokenKind,
  type TokenPrincipal,
} from './principal.js';
export type { ChoosableProject, ProjectChoices } from './project-choices.js';
export type { BodyFilter } from './body-filter.js';
export type { PublicBucket, RateClass } from './rates.js';
export type { HttpRequest } from './request.js';
export type { HttpMethod, RouteSpec } from './route.js';
export { withSchemaName, withJsonSchema, hideFromOpenApi } from './schema.js';
export { SharedBytes } from './shared-bytes.js';
export type { ToolSpec } from './tool.js';
export type { StreamedInput, UploadedBody } from './uploaded-body.js';
export { Redirect, View, type Flash, type RejectedFormDetails } from './view.js';

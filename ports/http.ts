/** Routes and pages as data, independent of the web server. */
export type { Access, AccessRule } from './http/access.js';
export { Answer, created, Reply, text, type Cookie } from './http/answer.js';
export type { Authenticator, RequestRejection } from './http/authenticator.js';
export type { BasicCredentials, BasicGuard, BasicPrincipal, BasicRequest, BasicDecision } from './http/basic.js';
export { EventStreamAnswer, type EventStreamOptions, type ServerSentEvent } from './http/event-stream.js';
export { FileAnswer, type StreamableFile } from './http/file-answer.js';
export type { FormRunResult, FormResultStore, SessionRef } from './http/form-results.js';
export { JsonText } from './http/json-text.js';
export type { ErrorCodes, MountedHosts, MountedPage, MountedPanel, MountedRoute } from './http/mounted.js';
export type { CustomHosts } from './http/custom-hosts.js';
export type { FormFile, PageResult, PageSpec, PanelSpec } from './http/page.js';
export {
  getTimeZone,
  type Principal,
  type Role,
  type SessionPrincipal,
  type TokenKind,
  type TokenPrincipal,
} from './http/principal.js';
export type { ChoosableProject, ProjectChoices } from './http/project-choices.js';
export type { BodyFilter } from './http/body-filter.js';
export type { PublicBucket, RateClass } from './http/rates.js';
export type { HttpRequest } from './http/request.js';
export type { HttpMethod, RouteSpec } from './http/route.js';
export { withSchemaName, withJsonSchema, hideFromOpenApi } from './http/schema.js';
export { SharedBytes } from './http/shared-bytes.js';
export type { ToolSpec } from './http/tool.js';
export type { StreamedInput, UploadedBody } from './http/uploaded-body.js';
export { Redirect, View, type Flash, type RejectedFormDetails } from './http/view.js';

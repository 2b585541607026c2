/**
 * Routes and pages as data, independent of the web server. A plugin returns them; the HTTP adapter mounts them. From the
 * same table come validation, the authorisation matrix, the OpenAPI description and the navigation.
 */
import type { ObjectSchema, Schema } from 'joi';
import { Answer, type Cookie, type Reply } from './http/answer.js';
import type { BasicGuard, BasicPrincipal } from './http/basic.js';
import type { StreamedInput } from './http/uploaded-body.js';

export { Answer, created, Reply, text, type Cookie } from './http/answer.js';
export type { BasicCredentials, BasicGuard, BasicPrincipal, BasicRequest, BasicVerdict } from './http/basic.js';
export { EventStreamAnswer, type EventStreamOptions, type ServerSentEvent } from './http/event-stream.js';
export { FileAnswer, type AnsweredFile } from './http/file-answer.js';
export type { CarriedOut, FormMemory, SessionOf } from './http/forms.js';
export { JsonText } from './http/json-text.js';
export { SharedBytes } from './http/shared-bytes.js';
export type { StreamedInput, UploadedBody } from './http/uploaded-body.js';

export type Role = 'admin' | 'member' | 'installer';
export type TokenKind = 'master' | 'sub' | 'watchdog' | 'setup' | 'intake';

/** Who asks. Made by the access plugin from the credential, checked by the adapter against the route's access. */
export type Principal =
  { kind: 'public' } | { kind: 'shared_key' } | BasicPrincipal | TokenPrincipal | SessionPrincipal;

export interface TokenPrincipal {
  kind: 'token';
  id: string;
  name: string;
  token_kind: TokenKind;
  scopes: readonly string[];
  /** The only project this token may touch; null: all. */
  project: string | null;
  /** The only monitor source this token may report for (`wd_live_`). */
  source: string | null;
  /** Of a sub-token: the master token that made it, whose limits it shares (contract 00, limits). */
  parent_id: string | null;
  /** Of a setup token: the account that logged in for it, as it is now. */
  account?: { id: string; username: string; role: Role };
}

export interface SessionPrincipal {
  kind: 'session';
  session_id: string;
  account_id: string;
  username: string;
  role: Role;
}

/**
 * Who may call. Several forms may be combined in an array: any of them opens the route.
 *  - `'public'`: no credential is asked for, and one that comes is ignored (contract 00, envelope);
 *  - `{scope}`, `{anyScope}`: a token that has it (a `…:manage` scope implies its `…:read`); setup tokens only by `setup:install`;
 *  - `{intake: true}`: beside a scope, a project's public intake key too;
 *  - `{anyToken: true}`: every kind of token but setup tokens and intake keys;
 *  - `{sharedKey: true}`: the shared key (contract 10, shared key);
 *  - `{session: role}`: a signed-in account; `member` admits administrators too. Pages, and routes below `/api/admin/`;
 *  - `{basic: guard}`: HTTP Basic, which the guard judges. It stands alone.
 */
export type AccessRule =
  | { scope: string; intake?: boolean }
  | { anyScope: readonly string[]; intake?: boolean }
  | { anyToken: true }
  | { sharedKey: true }
  | { session: 'admin' | 'member' }
  | { basic: BasicGuard };
export type Access = 'public' | AccessRule | readonly AccessRule[];

/** Which bucket a call is counted in (contract 00, limits). `none` is for probes. */
export type RateClass = 'api' | 'intake' | 'bulk' | 'public' | 'none';

/**
 * Which bucket of an address counts an open question (contract 00, limits): what is asked of one says nothing of the others.
 * `rest` is keys, badges and whatever is not named.
 */
export type OpenBucket = 'check' | 'validate' | 'store' | 'login' | 'rest';

export interface HttpRequest {
  /** `X-Request-Id`. */
  id: string;
  method: string;
  /** The path as it came, without the query. */
  path: string;
  /** Path parameters after validation, decoded. */
  params: Record<string, string>;
  /** Query after validation; repeated parameters are arrays where the schema says so. */
  query: Record<string, unknown>;
  /** Body after validation; null without one. A page's form fields. An `UploadedBody` where the route streams. */
  body: unknown;
  /** Lower-case names. Never holds the credential. */
  headers: Readonly<Record<string, string | undefined>>;
  principal: Principal;
  /** The client's address after `server.trusted_proxies`. */
  address: string;
  cookies: Readonly<Record<string, string>>;
  /** Aborts when the client goes away. */
  signal: AbortSignal;
  /** Name of the tool by which an agent calls this route (ports/tools.ts); undefined for a request of its own. */
  tool?: string;
}

/**
 * A route as a tool for agents (`/mcp`). Its input is the route's own, params, query and body put together, so that a tool
 * knows no rule that the route does not know. Names of arguments are unique within a route.
 */
export interface ToolSpec {
  /** `claim`: lower case; unique among all plugins. */
  name: string;
  title: string;
  /** For the model that chooses among tools: what it does, when to use it, what comes back. */
  description: string;
  /** It changes nothing. */
  readOnly?: boolean;
  /** It overwrites or removes; otherwise it only adds or reserves. */
  destructive?: boolean;
  /** Called again with the same arguments it changes nothing more. */
  idempotent?: boolean;
  /** The only arguments that it takes; absent: all of the route's. */
  only?: readonly string[];
  /** Arguments of the route that it does not take. */
  omit?: readonly string[];
  /** What it always sends; the agent can neither see nor change it. */
  fixed?: Readonly<Record<string, unknown>>;
  /** What it sends when the agent says nothing. */
  defaults?: Readonly<Record<string, unknown>>;
  /** Argument → description, where the route's schema has none. */
  describe?: Readonly<Record<string, string>>;
  /** Names of members of the answer, at any depth, whose text came from outside. An object's own `untrusted_fields` decides for it. */
  untrusted?: readonly string[];
  /** Characters of each text from outside that are shown unless the agent asks for another number. */
  textLimit?: number;
  /** What the agent is shown of the route's answer (data fields without the envelope); absent: all of it. */
  answer?: (data: Readonly<Record<string, unknown>>) => Record<string, unknown>;
  /**
   * Of a long list: the members of each of the answer's `items` that its text form shows, one line each. The rest is in the
   * structured form alone, so that it is not sent twice.
   */
  lines?: readonly string[];
  /** The member that the text form shows besides, in the fence: what the elements of a list are told apart by. */
  heading?: string;
}

/**
 * A schema with a name: openapi.json holds it once, under `components/schemas`, and programs made from it call it so. Give
 * the name last; `allow(null)`, a default and another description may follow. Names are shared by all plugins.
 * @param name `Item`: a noun, or a noun with what is done to it (`WebhookCreation`). Not `New…`, which Go's clients call the
 * function that makes one; no type that a language has (`Error`)
 */
export const named = <S extends Schema>(name: string, schema: S): S => {
  // Not by `describe()`, which walks the whole schema: half of the program's start would go there.
  const description = schema.$_getFlag('description') as string | undefined;
  return schema.meta({ component: { name, description } }) as S;
};

/**
 * What JSON Schema can say of a schema where joi's rules cannot be read (a rule of its own: `custom`).
 * @param json keywords, for example `{ maxLength: 200 }`
 */
export const stated = <S extends Schema>(json: Readonly<Record<string, unknown>>, schema: S): S =>
  schema.meta({ json }) as S;

/**
 * A parameter of the query, or one of the alternatives of a body or an answer, that is not in openapi.json: another
 * operation describes it (`GET /bugs?action=next`, at POST), or the route's description does in words (a list of reports).
 */
export const unlisted = <S extends Schema>(schema: S): S => schema.meta({ unlisted: true }) as S;

export type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

export interface RouteSpec {
  method: HttpMethod | readonly HttpMethod[];
  /** `/api/bugtracker/v1/bugs/{id}` */
  path: string;
  /** Further paths with the same meaning. */
  aliases?: readonly string[];
  /**
   * Its name in openapi.json, and so of the function in programs made from it: a verb with its object, `reportError`. One
   * for each path with each method, in their order, where there are several. Absent: made of method and path.
   */
  operationId?: string | readonly string[];
  /** Its group in openapi.json. Absent: the first word of its path behind `/api/`. */
  tag?: string;
  summary: string;
  description?: string;
  access: Access;
  input?: {
    params?: ObjectSchema;
    query?: ObjectSchema;
    /** Validated body; unknown fields are dropped (contract 00, envelope). */
    body?: Schema;
    /** The body is streamed to the handler and never held; instead of `body`. POST, PUT and PATCH. */
    stream?: StreamedInput;
    /** A body is optional: none is `{}`. */
    optionalBody?: boolean;
    /** Media type of the body, where it is not JSON; for the description. */
    mediaType?: string;
    /** Request headers that the handler reads, each with what it means; for the description. */
    headers?: Readonly<Record<string, string>>;
  };
  /**
   * Shape of the data fields (the envelope is added in the description); used by OpenAPI and by tests. Where the shape
   * depends on the status: status → shape.
   */
  output?: Schema | Readonly<Record<number, Schema>>;
  /** Success statuses of one shape, for the description. Default 200. */
  status?: number | readonly number[];
  /** Error codes that are this route's own: those of credential, limits, input and faults go without saying. */
  errors?: readonly string[];
  /** Unknown query parameters are errors (lists and `/status`). Default false. */
  strictQuery?: boolean;
  /** Answers without the envelope, errors included (license endpoints; contract 00, envelope). */
  bare?: boolean;
  /** Successful answers go without the envelope, errors with it: for clients that expect another service's answer. */
  plain?: boolean;
  /**
   * One of the routes that are asked most: it is answered before the web server's own steps where a caller asks for none of
   * them (conditions, parts, compression of a long answer). It answers the same, sooner. No session, no stream.
   */
  direct?: boolean;
  /** Not in openapi.json. */
  hidden?: boolean;
  /** Offered to agents. */
  tool?: ToolSpec | readonly ToolSpec[];
  limits?: {
    rate?: RateClass;
    /** Of a call that is counted as `public`. Absent: `rest`, and `store` where HTTP Basic guards. */
    bucket?: OpenBucket;
    /**
     * Whose verified key or password stands behind an answer; null: nobody’s. Such an answer is given where the bucket of its
     * address is used up too, which may be the work of others; it has a bucket of its own.
     */
    proves?: (request: HttpRequest, answer: object) => string | null;
    /** How many units this call counts (elements of an array intake). Called with the parsed body. */
    cost?: (body: unknown) => number;
    /** Body size in bytes on the wire; default `limits.json_bytes`. */
    bytes?: number;
    /** Accept gzip, deflate, br and (on Node 22.15 or later) zstd bodies, inflated up to `limits.inflated_bytes`. */
    inflate?: boolean;
    /** Parse JSON whatever the content type says (Sentry SDKs), or hand over the raw bytes as a Buffer. */
    payload?: 'json' | 'json-any-type' | 'raw';
    /** What raw bytes say, read once: `cost` and the handler get it in their place. */
    read?: (bytes: Buffer) => unknown;
    /** Refused with 507 while less is free than `health.min_free_bytes`: an intake, whose writes can wait at the sender. */
    space?: boolean;
    /** Further headers of a 429, for clients that do not go by `Retry-After`. @param seconds what it says */
    refused?: (seconds: number) => Record<string, string>;
  };
  /** Answer CORS pre-flights and `Access-Control-Allow-Origin: *` (intake paths only). */
  cors?: boolean;
  /**
   * Take the credential from here instead of `Authorization` (Sentry: `X-Sentry-Auth`, `?sentry_key=`). Asked with the body
   * null first; when that gives none, once more with the first 16 KiB of the body, inflated, as a Buffer.
   */
  credential?: (request: Pick<HttpRequest, 'headers' | 'query' | 'body'>) => string | null;
  /** Where `credential` looks, for the description. */
  credentialIn?: readonly { in: 'header' | 'query'; name: string }[];
  /** A call was answered with an error, here or before it came here: for the plugin's own numbers. */
  onRefused?: (code: string) => void;
  /** @returns an object for 200, or an `Answer`: a `Reply`, a `FileAnswer`, an `EventStreamAnswer`, a `Redirect` */
  handle(request: HttpRequest): Promise<object> | object;
}

/** What a page handler returns: a view of its own plugin, or a redirect. A `Reply` serves anything else. */
export type PageResult = View | Redirect | Reply;

export class View extends Answer {
  status = 200;
  holdsSecret = false;
  onceThen: { label: string; href: string } | null = null;
  /** @param template file name in the plugin's `views/`, without `.hbs`. */
  constructor(
    readonly template: string,
    readonly context: Record<string, unknown> = {},
  ) {
    super();
  }
  withStatus(status: number): this {
    this.status = status;
    return this;
  }
  /**
   * The page shows a secret that it will show again. It is sent uncompressed: beside text that somebody else can choose, its
   * compressed length would give the secret away. Form tokens need nothing of this: they are masked anew in every answer.
   */
  withSecret(): this {
    this.holdsSecret = true;
    return this;
  }
  /**
   * The answer of a form that shows a secret for the only time: the form is answered with a redirect to a page that shows this
   * view for one look, and says afterwards that it was shown. The context must be JSON.
   * @param back the page to go on with
   */
  shownOnce(back: { label: string; href: string }): this {
    this.onceThen = back;
    return this;
  }
}

export interface Flash {
  tone: 'success' | 'warning' | 'danger' | 'info';
  message: string;
  /** A button beside it, which posts to this path: the way back. */
  action?: { label: string; post: string };
}

/** 303. The flash is shown once on the next page (`role="status"`). */
export class Redirect {
  cookies: Cookie[] = [];
  constructor(
    readonly location: string,
    readonly flash?: Flash,
  ) {}
  cookie(cookie: Cookie): this {
    this.cookies.push(cookie);
    return this;
  }
}

export interface PageSpec {
  method?: 'GET' | 'POST';
  path: string;
  title: string;
  /** An entry in the navigation. */
  nav?: {
    section: 'overview' | 'work' | 'operations' | 'delivery' | 'administration';
    label: string;
    /** Name of an icon in web/assets/icons. */
    icon: string;
    order: number;
    /** Other words that people use for the page; the search finds it by them. */
    also?: readonly string[];
    /** A number to show beside the label; null hides it. */
    badge?: () => Promise<number | null>;
  };
  /** `public` only for the login. GET changes nothing; POST is checked for `csrf_token` before anything else is read. */
  access: 'public' | { session: 'admin' | 'member' };
  /** Of a public page: which bucket of its address counts it, and whose verified password stands behind an answer (`RouteSpec`). */
  limits?: { bucket: OpenBucket; proves?: (request: HttpRequest, answer: object) => string | null };
  /** The adapter loads every panel for the session: the view's context gets `panels: {attention: [{id, html}], trend: […]}`. */
  panels?: boolean;
  /**
   * A form that makes something: sent again with the same content (a reload, a second click) it makes nothing more and leads to
   * the answer of the first time.
   */
  creates?: boolean;
  /** Unknown query parameters of pages are ignored. */
  input?: { params?: ObjectSchema; query?: ObjectSchema };
  /** What a form shows that is refused before `handle` sees it (stale `csrf_token`, too many calls); else the error page. */
  again?: (problem: { code: string; message: string }) => View;
  handle(request: HttpRequest): Promise<PageResult> | PageResult;
}

/** A card on the dashboard, contributed by a plugin. */
export interface PanelSpec {
  id: string;
  /** `attention` needs a person now; `trend` shows how it goes. */
  kind: 'attention' | 'trend';
  order: number;
  /** A view of the plugin and its context, or null when there is nothing to show. */
  load(principal: SessionPrincipal): Promise<View | null>;
}

/** Turns credentials into principals. Provided by the access plugin as `access.authenticator`. */
export interface Authenticator {
  /** A Bearer value: a token of any kind, or the shared key; null when it is none, expired or revoked. */
  bearer(secret: string): Promise<Principal | null>;
  /** The session of a `svc_session` cookie's value; null when it has ended. */
  session(cookie: string): Promise<SessionPrincipal | null>;
  /** The CSRF token that belongs to a cookie value (a session's, or an anonymous visitor's at the login form). */
  csrf(cookie: string): string;
  /** Called for every refusal, for the security log. */
  refused?(refusal: Refusal): void;
}

/** A request that was turned away for its credential, its rights or its form token. */
export interface Refusal {
  what: 'credential' | 'scope' | 'csrf';
  /** Of the route, with its parameters unfilled. */
  path: string;
  address: string;
  request_id: string;
  principal: Principal;
}

/** Codes with the status that each answers and what it means, in one sentence. */
export type ErrorCodes = Readonly<Record<string, readonly [status: number, meaning: string]>>;

export interface MountedRoute {
  plugin: string;
  /** What the plugin's manifest says about its routes. */
  about?: {
    title: string;
    tags: Readonly<Record<string, string>>;
  };
  spec: RouteSpec;
  /** False while the plugin is failed: its routes answer 503 `not_ready`. */
  ready: () => boolean;
}

export interface MountedPage {
  plugin: string;
  spec: PageSpec;
  /** Folder of the plugin's views. */
  views: string;
  ready: () => boolean;
}

export interface MountedPanel {
  plugin: string;
  spec: PanelSpec;
  views: string;
}

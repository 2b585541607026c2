import type { ObjectSchema } from 'joi';
import type { Reply } from './answer.js';
import type { BasicGuard } from './basic.js';
import type { SessionPrincipal } from './principal.js';
import type { PublicBucket } from './rates.js';
import type { HttpRequest } from './request.js';
import type { StreamedInput } from './uploaded-body.js';
import type { Redirect, View } from './view.js';

/** Result of a page handler: a view of its plugin, a redirect, or a `Reply` for anything else. */
export type PageResult = View | Redirect | Reply;

/** An uploaded form file. */
export interface FormFile {
  /** Media type claimed by the browser, unverified. */
  type: string;
  bytes: Buffer;
}

export interface PageSpec {
  method?: 'GET' | 'POST';
  path: string;
  title: string;
  /** Navigation entry. */
  nav?: {
    section: 'overview' | 'work' | 'operations' | 'delivery' | 'administration';
    label: string;
    /** Icon name in web/assets/icons. */
    icon: string;
    order: number;
    /**
     * Path of a parent entry that stands for this page in the sidebar, with the badges of both;
     * search finds each.
     */
    within?: string;
    /** Search synonyms. */
    also?: readonly string[];
    /** Number beside the label, of the chosen project if any; null hides it. */
    badge?: (project?: string | null) => Promise<number | null>;
  };
  /** `public` only for the login. GET must not change anything; POST checks `csrf_token` first. */
  access: 'public' | { session: 'admin' | 'member' };
  /**
   * Limits of a public page: its bucket, and the verified password behind a response (`RouteSpec`).
   */
  limits?: { bucket: PublicBucket; proves?: (request: HttpRequest, answer: object) => string | null };
  /**
   * Loads all panels for the session: the view's context gets `panels: {attention: [{id, html}],
   * trend: […]}`.
   */
  panels?: boolean;
  /**
   * A creating form: repeats with the same content (reload, double click) redirect to the first
   * result.
   */
  creates?: boolean;
  /**
   * A public page identical for everyone: no session, form token, layout, query or rate limits.
   * Rendered on request when older than `maxAgeMs`, with an ETag. While `personal` returns true,
   * responses are individual and uncached.
   */
  shared?: { maxAgeMs: number; personal?: (params: Readonly<Record<string, string>>) => Promise<boolean> };
  /**
   * Accepts HTTP Basic on a public page: the guard checks an `Authorization` header and sets the
   * `principal`. Shared pages read it only while personal.
   */
  basic?: BasicGuard;
  /** Also served on the plugin's custom hosts (`CustomHosts`), like shared pages. */
  onOwnHosts?: boolean;
  /**
   * Query parameter that filters by project; defaults to the visitor's selected project
   * (`HttpRequest.chosenProject`).
   */
  projectQuery?: string;
  /** Accepts files (`multipart/form-data`) as `FormFile`; requires a session. */
  files?: boolean;
  /**
   * Form with one large streamed file and a session. `HttpRequest.body` is an `UploadedBody`. Other
   * fields precede the file, hidden ones (`{{> csrf}}`) first: the handler starts after the token
   * check. Never repeated, so `creates` does not apply.
   */
  upload?: NonNullable<StreamedInput['multipart']> & Pick<StreamedInput, 'bytes'>;
  /** Unknown query parameters are ignored. */
  input?: { params?: ObjectSchema; query?: ObjectSchema };
  /**
   * View of a form rejected before `handle` (stale `csrf_token`, rate limit); default: the error
   * page.
   */
  again?: (problem: { code: string; message: string }) => View;
  handle(request: HttpRequest): Promise<PageResult> | PageResult;
}

/** A dashboard card of a plugin. */
export interface PanelSpec {
  id: string;
  /** `attention`: requires action now; `trend`: development over time. */
  kind: 'attention' | 'trend';
  order: number;
  /**
   * Loads a view of the plugin with its context; null hides the card.
   * @param project the project that the user has chosen for every page; null: all
   */
  load(principal: SessionPrincipal, project?: string | null): Promise<View | null>;
}

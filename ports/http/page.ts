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
  type: string;
  bytes: Buffer;
}

/**
 * `overview`, `work`, `operations` and `delivery` are entries of the sidebar in this order,
 * `administration` is listed under Settings, `help` in the Help menu.
 */
export type NavSection = 'overview' | 'work' | 'operations' | 'delivery' | 'administration' | 'help';

/** Group of a settings page. */
export type NavGroup = 'workspace' | 'project' | 'alerts' | 'system';

/** Place of a page in the navigation. */
export interface PageNav {
  section: NavSection;
  label: string;
  /** Icon name in web/assets/icons. */
  icon: string;
  order: number;
  /** Path of the sidebar entry that shows this page as a tab. */
  within?: string;
  /** Label of the page's tab; default: `label`. */
  tab?: string;
  /** Only with section `administration`; default: `workspace`. */
  group?: NavGroup;
  /** Other words that the search finds the page by. */
  also?: readonly string[];
  /** Count next to the label; null shows none. */
  badge?: (project?: string | null) => Promise<number | null>;
}

export interface PageSpec {
  method?: 'GET' | 'POST';
  path: string;
  title: string;
  nav?: PageNav;
  /**
   * Path of the navigation entry that is current on this page, `null` for none; default: the entry
   * with the longest path above the page's own.
   */
  entry?: string | null;
  /** `public` only for the login. GET must not change anything. */
  access: 'public' | { session: 'admin' | 'member' };
  limits?: { bucket: PublicBucket; proves?: (request: HttpRequest, answer: object) => string | null };
  /** The view's context gets `panels`: for each kind of `PanelSpec` its `[{id, html}]`. */
  panels?: boolean;
  /** Repeats with the same content (reload, double click) redirect to the first result. */
  creates?: boolean;
  /**
   * A public page identical for everyone: no session, form token, layout, query or rate limits.
   * While `personal` returns true, responses are individual and uncached.
   */
  shared?: { maxAgeMs: number; personal?: (params: Readonly<Record<string, string>>) => Promise<boolean> };
  /**
   * HTTP Basic on a public page: the guard sets the `principal`. Shared pages read it only while
   * personal.
   */
  basic?: BasicGuard;
  /** Also served on the plugin's custom hosts (`CustomHosts`), like shared pages. */
  onOwnHosts?: boolean;
  /** Query parameter that filters by project; defaults to the selected one. */
  projectQuery?: string;
  /** Accepts `multipart/form-data` as `FormFile`; requires a session. */
  files?: boolean;
  /**
   * Form with one large streamed file (`UploadedBody`) and a session. Other fields precede the
   * file, hidden ones (`{{> csrf}}`) first: the handler starts after the token check.
   */
  upload?: NonNullable<StreamedInput['multipart']> & Pick<StreamedInput, 'bytes'>;
  /** Also for sessions that must set up a second factor before anything else. */
  duringEnrollment?: boolean;
  /** Unknown query parameters are ignored. */
  input?: { params?: ObjectSchema; query?: ObjectSchema };
  /** View of a form rejected before `handle`; default: the error page. */
  again?: (problem: { code: string; message: string }) => View;
  handle(request: HttpRequest): Promise<PageResult> | PageResult;
}

/**
 * - `state`: one line below the heading;
 * - `stat`: a number with its change, the partial `stat-tile`;
 * - `chart`: a chart across the page;
 * - `attention`: rows of "Needs you", as `<li>` of a list or as a card;
 * - `side`: a card in the right column.
 */
export const PANEL_KINDS = ['state', 'stat', 'chart', 'attention', 'side'] as const;
export type PanelKind = (typeof PANEL_KINDS)[number];

/** A plugin's part of Home. */
export interface PanelSpec {
  id: string;
  /** `trend` is an earlier name of `side`. */
  kind: PanelKind | 'trend';
  order: number;
  /**
   * Runs at every view of Home: read counters, not items. Null hides it. Its field `count` adds to
   * the number of things that need attention (default 1).
   * @param project of the project switch; null: all
   */
  load(principal: SessionPrincipal, project?: string | null): Promise<View | null>;
}

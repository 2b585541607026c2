/** A page, and a card on the dashboard, as data. */
import type { ObjectSchema } from 'joi';
import type { Reply } from './answer.js';
import type { BasicGuard } from './basic.js';
import type { SessionPrincipal } from './principal.js';
import type { OpenBucket } from './rates.js';
import type { HttpRequest } from './request.js';
import type { StreamedInput } from './uploaded-body.js';
import type { Redirect, View } from './view.js';

/** What a page handler returns: a view of its own plugin, or a redirect. A `Reply` serves anything else. */
export type PageResult = View | Redirect | Reply;

/** A file of a form. */
export interface FormFile {
  /** As the browser says; nobody has looked whether it is true. */
  type: string;
  bytes: Buffer;
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
    /**
     * The path of another entry, on whose page this one is found: the bar at the side shows that one alone, with the
     * badges of both; the search finds each.
     */
    within?: string;
    /** Other words that people use for the page; the search finds it by them. */
    also?: readonly string[];
    /** A number to show beside the label; null hides it. */
    badge?: () => Promise<number | null>;
  };
  /**
   * `public` only for the login. GET changes nothing; POST is checked for `csrf_token` before anything else is read.
   */
  access: 'public' | { session: 'admin' | 'member' };
  /**
   * Of a public page: which bucket of its address counts it, and whose verified password stands behind an answer
   * (`RouteSpec`).
   */
  limits?: { bucket: OpenBucket; proves?: (request: HttpRequest, answer: object) => string | null };
  /**
   * The adapter loads every panel for the session: the view's context gets `panels: {attention: [{id, html}], trend:
   * […]}`.
   */
  panels?: boolean;
  /**
   * A form that makes something: sent again with the same content (a reload, a second click) it makes nothing more and
   * leads to the answer of the first time.
   */
  creates?: boolean;
  /**
   * A public page that is the same for everybody: no session, no form token, no layout, and its query is not looked at.
   * It is rendered when somebody asks and the last rendering is older than `maxAgeMs`; until then everyone gets the
   * same bytes, with an ETag. Nobody is counted for these. While `personal` answers true, each visitor is answered
   * separately, as by any public page, and nothing is stored.
   */
  shared?: { maxAgeMs: number; personal?: (params: Readonly<Record<string, string>>) => Promise<boolean> };
  /**
   * A public page that takes HTTP Basic too: the guard checks an `Authorization` header, whose sender is then the
   * `principal`. A shared page reads the header only while it is personal.
   */
  basic?: BasicGuard;
  /** A host that shows a page of this plugin (`OwnHosts`) serves this page too, as it does shared pages. */
  onOwnHosts?: boolean;
  /**
   * Name of the query parameter that leaves one project of a list: where the address does not name one, the project
   * that the visitor has chosen in the bar fills it in (`HttpRequest.chosenProject`).
   */
  projectQuery?: string;
  /** A form may hold files (`multipart/form-data`): such a field is a `FormFile`. Of a page with a session. */
  files?: boolean;
  /**
   * A form with one file too large to be held, of a page with a session: `HttpRequest.body` is an `UploadedBody`. The
   * form's other fields stand before the file, its hidden ones (`{{> csrf}}`) first of all: the handler is not called
   * before the form token is proven. It is never carried out twice by itself, so `creates` does not go with it.
   */
  upload?: NonNullable<StreamedInput['multipart']> & Pick<StreamedInput, 'bytes'>;
  /** Unknown query parameters of pages are ignored. */
  input?: { params?: ObjectSchema; query?: ObjectSchema };
  /**
   * What a form shows that is refused before `handle` sees it (stale `csrf_token`, too many calls); else the error
   * page.
   */
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

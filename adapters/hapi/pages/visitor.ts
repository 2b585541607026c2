import { randomBytes } from 'node:crypto';
import { createFormId } from '../../../lib/saved-form.js';
import type { FormResultStore, PageSpec, ProjectChoices, SessionPrincipal, View } from '../../../ports/http/index.js';
import type { Request } from '@hapi/hapi';
import type { RouteServices } from '../routes/route-services.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { parseCookies, formatSetCookie } from '../wire/cookies.js';
import { ANONYMOUS_COOKIE, ANONYMOUS_ID_PATTERN, maskToken, SESSION_COOKIE } from '../access/csrf.js';
import type { StaticAssets } from './assets.js';
import { FLASH_COOKIE, parseFlash } from '../wire/flash.js';
import type { Navigation } from './navigation.js';
import { NO_NAVIGATION } from './navigation-tree.js';
import type { CustomHostPaths } from './custom-host-paths.js';
import { buildProjectBar, findChosenProject } from './project-choice.js';
import type { DashboardPanels } from './panels.js';
import type { SharedPageCache } from './shared-page-cache.js';
import type { ViewRenderer } from './view-renderer.js';

export const HTML_TYPE = 'text/html; charset=utf-8';

export interface PageServices extends RouteServices {
  views: ViewRenderer;
  assets: StaticAssets;
  navigation: Navigation;
  hasPage: (path: string) => boolean;
  panels: DashboardPanels;
  sharedPages: SharedPageCache;
  ownHostPaths: CustomHostPaths;
  forms: FormResultStore | null;
  projects: ProjectChoices | null;
  viewsOf: (plugin: string) => string;
  version: string;
  timezone: string;
}

export interface PageVisitor {
  session: SessionPrincipal | null;
  cookies: Record<string, string>;
  csrfCookie: string;
  isNew: boolean;
}

export const ANONYMOUS_VISITOR: PageVisitor = { session: null, cookies: {}, csrfCookie: '', isNew: false };

export const getAnonymousId = (cookies: Record<string, string>): string | undefined => {
  const value = cookies[ANONYMOUS_COOKIE];
  return value && ANONYMOUS_ID_PATTERN.test(value) ? value : undefined;
};

export async function resolveVisitor({ authenticator, secure }: PageServices, request: Request): Promise<PageVisitor> {
  const cookies = parseCookies(request.raw.req.headers['cookie'], secure);
  const cookie = cookies[SESSION_COOKIE];
  const session = cookie ? await authenticator.authenticateSession(cookie) : null;
  if (session && cookie) return { session, cookies, csrfCookie: cookie, isNew: false };
  const anon = getAnonymousId(cookies);
  return { session: null, cookies, csrfCookie: anon ?? generateAnonymousId(), isNew: anon === undefined };
}

/** Replacing `-` and `_` of base64url costs less than two bits of entropy. */
const generateAnonymousId = (): string => randomBytes(32).toString('base64url').replace(/-/g, 'A').replace(/_/g, 'B');

const generateFormId = ({ authenticator }: PageServices, { account_id }: SessionPrincipal): string =>
  createFormId(randomBytes(12).toString('base64url'), account_id, (text) => authenticator.getCsrfToken(text));

/** Builds the fields that every view and layout finds at its root (web/README.md). */
export async function buildViewContext(
  shared: PageServices,
  call: IncomingRequest,
  visitor: PageVisitor,
  { title, entry }: Pick<PageSpec, 'title' | 'entry'>,
): Promise<Record<string, unknown>> {
  const { session, cookies, csrfCookie } = visitor;
  const theme = cookies['svc_theme'];
  const chosen = session ? await findChosenProject(shared.projects, cookies) : null;
  const [nav, bar] = session
    ? await Promise.all([
        shared.navigation.getView(session.role, entry === undefined ? call.path : entry, chosen?.slug ?? null),
        buildProjectBar(shared.projects, chosen),
      ])
    : [NO_NAVIGATION, null];
  return {
    title,
    nav,
    project_bar: bar,
    api_docs: shared.hasPage('/docs/api'),
    search: shared.hasPage('/search'),
    license_page: shared.hasPage('/license'),
    has_page: (path: string) => shared.hasPage(path),
    user: session ? { username: session.username, role: session.role } : null,
    role: session?.role ?? null,
    csrf_token: csrfCookie === '' ? '' : maskToken(shared.authenticator.getCsrfToken(csrfCookie)),
    form_id: session && shared.forms ? generateFormId(shared, session) : null,
    theme: theme === 'light' || theme === 'dark' ? theme : 'auto',
    flash: parseFlash(shared.authenticator, cookies[FLASH_COOKIE]),
    timezone: session?.timezone ?? shared.timezone,
    reader: { timezone: session?.timezone ?? shared.timezone, hours: session?.hours ?? 24, public: session === null },
    version: shared.version,
    request_id: call.id,
    path: call.path,
    query: { ...call.query },
  };
}

export function buildCookieHeader(
  shared: PageServices,
  visitor: PageVisitor,
  own: View['cookies'],
): Record<string, string[]> {
  const cookies = [...own];
  if (visitor.isNew) cookies.push({ name: ANONYMOUS_COOKIE, value: visitor.csrfCookie });
  if (visitor.cookies[FLASH_COOKIE] !== undefined) cookies.push({ name: FLASH_COOKIE, value: null });
  return cookies.length === 0 ? {} : { 'set-cookie': cookies.map((cookie) => formatSetCookie(cookie, shared.secure)) };
}

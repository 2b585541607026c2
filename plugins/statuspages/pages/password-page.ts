import {
  getFormFields,
  Redirect,
  Reply,
  View,
  type HttpRequest,
  type PageResult,
  type PageSpec,
} from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { hasPassword, type StatusPageDoc } from '../model/status-page.js';
import { TOO_MANY_MESSAGE, type PageLockService } from '../public-page/page-lock.js';

/** `challenge`: 401 with HTTP Basic; `error`: 401 that opens no browser dialog. */
export type LockedResponseKind = 'form' | 'challenge' | 'error';

/** @throws ServiceError not_found */
export type StatusPageFinder = (request: HttpRequest) => Promise<StatusPageDoc>;

const BASIC_CHALLENGE = 'Basic realm="Status page", charset="UTF-8"';
const LOCKED_MESSAGE = 'This status page is protected by a password.';

/**
 * Reveals nothing about the page, including title and logo.
 * @param action null submits to the current URL
 */
function renderPasswordForm(action: string | null, problem: string | null, status: number): View {
  const code = status === 429 ? 'rate_limited' : 'unauthorized';
  return new View('password-form', { action, problem })
    .withRejection(status, { code, message: problem ?? LOCKED_MESSAGE, fields: {} })
    .withoutLayout()
    .header('cache-control', 'private, no-store')
    .header('x-robots-tag', 'noindex');
}

/**
 * @param path of the page
 * @throws ServiceError unauthorized
 */
export function renderLockedPage(locked: LockedResponseKind, path: string): View {
  if (locked === 'form') return renderPasswordForm(`${path}/password`, null, 401);
  const headers = {
    'cache-control': 'private, no-store',
    ...(locked === 'challenge' && { 'www-authenticate': BASIC_CHALLENGE }),
  };
  throw new ServiceError('unauthorized', LOCKED_MESSAGE, { headers });
}

/** A shown page, or a redirect to it, proves the right password. */
export function getPasswordProof({ params, address }: HttpRequest, answer: object): string | null {
  const isRight =
    answer instanceof Redirect
      ? answer.cookies.length > 0
      : (answer instanceof View || answer instanceof Reply) && answer.status === 200;
  return isRight ? `status page ${params['slug']} ${address}` : null;
}

export function buildPasswordPage(
  lock: PageLockService,
  page: Required<Pick<PageSpec, 'input'>> & {
    path: string;
    page: StatusPageFinder;
    home: (page: StatusPageDoc, request: HttpRequest) => string;
  },
): PageSpec {
  return {
    method: 'POST',
    path: `/status-page/{slug}${page.path}/password`,
    title: 'Status',
    access: 'public',
    limits: { bucket: 'login', proves: getPasswordProof },
    onOwnHosts: true,
    input: page.input,
    again: ({ message }) => renderPasswordForm(null, message, 403),
    handle: async (request) => {
      const found = await page.page(request);
      const home = page.home(found, request);
      return hasPassword(found) ? unlockPage(lock, found, request, home) : new Redirect(home);
    },
  };
}

async function unlockPage(
  lock: PageLockService,
  page: StatusPageDoc,
  request: HttpRequest,
  home: string,
): Promise<PageResult> {
  const { password } = getFormFields(request);
  try {
    const cookie = await lock.unlock(page, typeof password === 'string' ? password : '', request.address);
    return cookie === null ? renderPasswordForm(null, 'Incorrect password.', 401) : new Redirect(home).cookie(cookie);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'rate_limited') throw error;
    const view = renderPasswordForm(null, TOO_MANY_MESSAGE, 429);
    for (const [name, value] of Object.entries(error.headers ?? {})) view.header(name, value);
    return view;
  }
}

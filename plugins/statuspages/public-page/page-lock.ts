/**
 * Passwords of status pages. An encrypted cookie stores that a visitor entered the password of one
 * page; a new password invalidates it. Feed readers use HTTP Basic.
 */
import { inject, injectable, type Answer, type HttpRequest } from '../../../kernel/contract.js';
import { ServiceError } from '../../../kernel/errors.js';
import { getClientNetwork } from '../../../lib/addresses.js';
import { DAY_MS } from '../../../lib/time.js';
import type { BasicCredentials, BasicGuard, BasicRequest, BasicVerdict } from '../../../ports/http.js';
import { DEPS, type StatusPagesDeps } from '../deps.js';
import { hasPassword, type StatusPageDoc } from '../model/page.js';
import { StatusPages } from '../store/pages.js';

const PURPOSE = 'statuspages.visitor';
const TICKET_LIFETIME_MS = 30 * DAY_MS;

interface Ticket {
  page: string;
  password: string;
  until: number;
}

export const toCookieName = (slug: string): string => `svc_status_${slug}`;

@injectable()
export class PageLock implements BasicGuard {
  readonly realm = 'Status page';

  constructor(
    @inject(DEPS) private readonly deps: Pick<StatusPagesDeps, 'cipher' | 'clock' | 'hasher' | 'throttle'>,
    @inject(StatusPages) private readonly pages: StatusPages,
  ) {}

  isOpen(page: StatusPageDoc, { principal, cookies }: Pick<HttpRequest, 'principal' | 'cookies'>): boolean {
    if (!hasPassword(page)) return true;
    if (principal.kind === 'basic') return principal.username !== null;
    const ticket = this.#read(cookies[toCookieName(page.slug)]);
    return (
      ticket !== null &&
      ticket.page === page.id &&
      ticket.password === page.password?.id &&
      ticket.until > this.deps.clock.now()
    );
  }

  /**
   * @returns the cookie that unlocks the page; null for a wrong password
   * @throws ServiceError rate_limited
   */
  async unlock(page: StatusPageDoc, password: string, address: string): Promise<Answer['cookies'][number] | null> {
    const id = page.password?.id;
    if (id === undefined || !(await this.#verify(page, password, address))) return null;
    const ticket: Ticket = { page: page.id, password: id, until: this.deps.clock.now() + TICKET_LIFETIME_MS };
    const value = this.deps.cipher.seal(JSON.stringify(ticket), PURPOSE);
    return { name: toCookieName(page.slug), value, maxAgeSeconds: TICKET_LIFETIME_MS / 1_000 };
  }

  /** Accepts any user name. */
  async judge(given: BasicCredentials | null, { params, address }: BasicRequest): Promise<BasicVerdict> {
    const page = await this.pages.findBySlug(params['slug'] ?? '');
    if (page === null || !hasPassword(page)) return { open: true, username: null };
    if (given === null) return DENIED;
    try {
      const isRight = await this.#verify(page, given.password, address);
      return isRight ? { open: true, username: given.username } : DENIED;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'rate_limited') throw error;
      const retry_after = Number(error.headers?.['retry-after'] ?? 1);
      return { open: false, code: 'rate_limited', message: TOO_MANY, retry_after };
    }
  }

  /** @throws ServiceError rate_limited */
  async #verify({ id, password }: StatusPageDoc, given: string, address: string): Promise<boolean> {
    const { throttle, hasher } = this.deps;
    const key = `status-page:${id}:${getClientNetwork(address)}`;
    const attempt = await throttle.enter([key]);
    try {
      const { ok } = await hasher.verify(given, password?.hash ?? null);
      await (ok ? throttle.reset(key) : attempt.failed());
      return ok;
    } finally {
      attempt.leave();
    }
  }

  #read(sealed: string | undefined): Ticket | null {
    if (sealed === undefined) return null;
    try {
      return JSON.parse(this.deps.cipher.open(sealed, PURPOSE)) as Ticket;
    } catch {
      // Not encrypted by this service.
      return null;
    }
  }
}

export const TOO_MANY = 'Too many wrong passwords. Try again later.';
const DENIED: BasicVerdict = { open: false, code: 'unauthorized', message: 'The password of this page is wrong.' };

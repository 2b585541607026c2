/**
 * An encrypted cookie unlocks one page; a new password invalidates it. Feed readers use HTTP Basic.
 */
import {
  inject,
  injectable,
  type Answer,
  type HttpRequest,
  type Cipher,
  type Clock,
  type PasswordHasher,
} from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { getClientNetwork } from '../../../lib/addresses.js';
import { DAY_MS } from '../../../lib/time.js';
import type { BasicCredentials, BasicGuard, BasicRequest, BasicDecision } from '../../../ports/http/index.js';
import { DEPS } from '../deps.js';
import { hasPassword, type StatusPageDoc } from '../model/status-page.js';
import { StatusPageService } from '../store/status-page-service.js';
import type { AttemptThrottle } from '../../../ports/domain/access.js';

const COOKIE_PURPOSE = 'statuspages.visitor';
const TICKET_LIFETIME_MS = 30 * DAY_MS;

interface VisitorTicket {
  page: string;
  password: string;
  until: number;
}

export const getCookieName = (slug: string): string => `svc_status_${slug}`;

@injectable()
export class PageLockService implements BasicGuard {
  readonly realm = 'Status page';

  constructor(
    @inject(DEPS.cipher) private readonly cipher: Pick<Cipher, 'seal' | 'open' | 'derive'>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.hasher) private readonly hasher: PasswordHasher,
    @inject(DEPS.throttle) private readonly throttle: AttemptThrottle,
    @inject(StatusPageService) private readonly pages: StatusPageService,
  ) {}

  isOpen(page: StatusPageDoc, { principal, cookies }: Pick<HttpRequest, 'principal' | 'cookies'>): boolean {
    if (!hasPassword(page)) return true;
    if (principal.kind === 'basic') return principal.username !== null;
    const ticket = this.#readTicket(cookies[getCookieName(page.slug)]);
    return (
      ticket !== null &&
      ticket.page === page.id &&
      ticket.password === page.password?.id &&
      ticket.until > this.clock.now()
    );
  }

  /**
   * @returns the cookie; null for a wrong password
   * @throws ServiceError rate_limited
   */
  async unlock(page: StatusPageDoc, password: string, address: string): Promise<Answer['cookies'][number] | null> {
    const id = page.password?.id;
    if (id === undefined || !(await this.#verify(page, password, address))) return null;
    const ticket: VisitorTicket = { page: page.id, password: id, until: this.clock.now() + TICKET_LIFETIME_MS };
    const value = this.cipher.seal(JSON.stringify(ticket), COOKIE_PURPOSE);
    return { name: getCookieName(page.slug), value, maxAgeSeconds: TICKET_LIFETIME_MS / 1_000 };
  }

  /** Accepts any user name. */
  async authorize(given: BasicCredentials | null, { params, address }: BasicRequest): Promise<BasicDecision> {
    const page = await this.pages.findBySlug(params['slug'] ?? '');
    if (page === null || !hasPassword(page)) return { open: true, username: null };
    if (given === null) return DENIED_VERDICT;
    try {
      const isRight = await this.#verify(page, given.password, address);
      return isRight ? { open: true, username: given.username } : DENIED_VERDICT;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'rate_limited') throw error;
      const retry_after = Number(error.headers?.['retry-after'] ?? 1);
      return { open: false, code: 'rate_limited', message: TOO_MANY_MESSAGE, retry_after };
    }
  }

  /** @throws ServiceError rate_limited */
  async #verify({ id, password }: StatusPageDoc, given: string, address: string): Promise<boolean> {
    const { throttle, hasher } = this;
    const key = `status-page:${id}:${getClientNetwork(address)}`;
    const attempt = await throttle.begin([key]);
    try {
      const { ok } = await hasher.verify(given, password?.hash ?? null);
      await (ok ? throttle.reset(key) : attempt.recordFailure());
      return ok;
    } finally {
      attempt.release();
    }
  }

  #readTicket(sealed: string | undefined): VisitorTicket | null {
    if (sealed === undefined) return null;
    try {
      return JSON.parse(this.cipher.open(sealed, COOKIE_PURPOSE)) as VisitorTicket;
    } catch {
      return null;
    }
  }
}

export const TOO_MANY_MESSAGE = 'Too many wrong passwords. Try again later.';
const DENIED_VERDICT: BasicDecision = {
  open: false,
  code: 'unauthorized',
  message: 'Incorrect password.',
};

import { createHmac, timingSafeEqual } from 'node:crypto';
import { PORT, inject, injectable, type AppSettings } from '../../../kernel/contract/index.js';
import type { Cipher } from '../../../ports/cipher.js';
import type { Authenticator, Principal, RequestRejection, SessionPrincipal } from '../../../ports/http/index.js';
import { SecurityLog } from '../audit/security-log.js';
import { SessionService } from './sessions.js';
import { isTokenShaped } from '../model/token.js';
import { TokenService } from '../tokens/tokens.js';

@injectable()
export class AccessAuthenticator implements Authenticator {
  readonly #csrfKey: Buffer;
  readonly #compareKey: Buffer;

  constructor(
    @inject(PORT.app) private readonly app: Pick<AppSettings, 'shared_key'>,
    @inject(PORT.cipher) cipher: Cipher,
    @inject(TokenService) private readonly tokens: TokenService,
    @inject(SessionService) private readonly sessions: SessionService,
    @inject(SecurityLog) private readonly security: SecurityLog,
  ) {
    this.#csrfKey = cipher.derive('csrf');
    this.#compareKey = cipher.derive('shared-key-compare');
  }

  async authenticateBearer(secret: string): Promise<Principal | null> {
    // Tokens are most frequent; a shared key that looks like one is still found.
    const token = isTokenShaped(secret) ? await this.tokens.verify(secret) : null;
    return token ?? (this.#isSharedKey(secret) ? { kind: 'shared_key' } : null);
  }

  authenticateSession(cookie: string): Promise<SessionPrincipal | null> {
    return this.sessions.verify(cookie);
  }

  recordRejection(refusal: RequestRejection): void {
    this.security.recordRejection(refusal);
  }

  getCsrfToken(cookie: string): string {
    return createHmac('sha256', this.#csrfKey).update(cookie).digest('base64url');
  }

  /** MACs have equal length, and their comparison time reveals nothing without the key. */
  #isSharedKey(secret: string): boolean {
    if (this.app.shared_key === '') return false;
    const mac = (text: string): Buffer => createHmac('sha256', this.#compareKey).update(text).digest();
    return timingSafeEqual(mac(secret), mac(this.app.shared_key));
  }
}

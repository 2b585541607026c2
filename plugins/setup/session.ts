/** Login to the setup path, and its authenticated callers (contract 60, login). */
import { PORT, collection, inject, injectable, type Clock, type Collection } from '../../kernel/contract/index.js';
import { denied, ServiceError } from '../../kernel/errors.js';
import { CREDENTIALS, type CredentialCheck } from '../../ports/domain/access.js';
import { TOKENS, type TokenIssuer } from '../../ports/domain/tokens.js';
import { FIRST_LOGIN_MARK_ID, type SetupMark } from './documents.js';
import type { HttpRequest, Principal, Role } from '../../ports/http/index.js';

export const SETUP_SESSION_SECONDS = 1_800;
export const SETUP_SCOPES = ['setup:install'];

export interface SetupSessionToken {
  token: string;
  token_type: 'Bearer';
  expires_at: string;
  expires_in: number;
  scopes: string[];
  account: { username: string; role: Role };
}

export interface Installer {
  username: string;
  role: Role;
}

/** @throws ServiceError insufficient_scope for every other credential */
export function requireInstaller(principal: Principal): Installer {
  if (principal.kind !== 'token' || principal.token_kind !== 'setup' || principal.account === undefined) {
    throw denied('Requires the token of a setup login (POST /api/setup/v1/login).');
  }
  return principal.account;
}

@injectable()
export class SetupLoginService {
  #marked = false;

  constructor(
    @inject(CREDENTIALS) private readonly credentials: CredentialCheck,
    @inject(TOKENS) private readonly tokens: TokenIssuer,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(collection<SetupMark>('marks')) private readonly marks: Collection<SetupMark>,
  ) {}

  /**
   * @throws ServiceError invalid_credentials, role_not_allowed, totp_not_supported, rate_limited
   */
  async login(
    given: { username: string; password: string },
    { address, id: request_id }: Pick<HttpRequest, 'address' | 'id'>,
  ): Promise<SetupSessionToken> {
    const account = await this.credentials.check({ ...given, address, request_id, place: 'setup' });
    await this.#markFirstLogin();
    const { id, epoch, username, role } = account;
    const made = await this.tokens.issue({
      kind: 'setup',
      name: `setup login of ${username}`,
      scopes: SETUP_SCOPES,
      expires_in_seconds: SETUP_SESSION_SECONDS,
      created_by: username,
      account: { id, epoch },
    });
    if (made.expires_at === null) throw new ServiceError('internal_error', 'A setup token without an end.');
    return {
      token: made.token,
      token_type: 'Bearer',
      expires_at: made.expires_at,
      expires_in: Math.round((Date.parse(made.expires_at) - this.clock.now()) / 1000),
      scopes: SETUP_SCOPES,
      account: { username, role },
    };
  }

  /** Records the first login permanently, because its token expires in half an hour. */
  async #markFirstLogin(): Promise<void> {
    if (this.#marked) return;
    await this.marks.change({ id: FIRST_LOGIN_MARK_ID }, { setOnInsert: { at: this.clock.iso() } }, { upsert: true });
    this.#marked = true;
  }
}

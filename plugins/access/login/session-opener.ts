import { inject, injectable } from '../../../kernel/contract/index.js';
import { DeviceCookies } from './devices.js';
import type { Account } from '../model/account.js';
import { computeSha256 } from '../model/token.js';
import { SessionService } from '../sessions/sessions.js';

export interface BrowserInfo {
  address: string;
  userAgent?: string | undefined;
  request_id?: string | undefined;
  device?: string | undefined;
  /** Ends with the login. */
  session?: string | undefined;
}

/** Values of the cookies. */
export interface OpenedSession {
  session: string;
  device: string;
}

@injectable()
export class SessionOpener {
  constructor(
    @inject(SessionService) private readonly sessions: SessionService,
    @inject(DeviceCookies) private readonly devices: DeviceCookies,
  ) {}

  /**
   * Ends the browser's previous session: no session survives a sign-in.
   * @param providerToken sealed, for the provider's logout
   */
  async open(account: Account, from: BrowserInfo, providerToken?: string): Promise<OpenedSession> {
    if (from.session !== undefined) await this.sessions.end(computeSha256(from.session));
    const session = await this.sessions.open(account, from, providerToken);
    const known = this.devices.read(from.device, account.id) === null ? undefined : from.device;
    return { session, device: known ?? this.devices.issue(account.id) };
  }
}

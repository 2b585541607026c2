/**
 * A browser that has logged in gets a signed cookie with its own throttle count, so that failed
 * logins from elsewhere cannot lock out an administrator (contract 10, accounts). The password is
 * still required.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { PORT, inject, injectable, type Ids } from '../../../kernel/contract/index.js';
import type { Cipher } from '../../../ports/cipher.js';

export const DEVICE_COOKIE = 'svc_device';
export const DEVICE_COOKIE_LIFETIME_SECONDS = 180 * 24 * 3600;

@injectable()
export class DeviceCookies {
  readonly #key: Buffer;

  constructor(
    @inject(PORT.cipher) cipher: Cipher,
    @inject(PORT.ids) private readonly ids: Ids,
  ) {
    this.#key = cipher.derive('device-cookie');
  }

  issue(accountId: string): string {
    const device = this.ids.secret(22);
    return `${device}.${this.#sign(accountId, device)}`;
  }

  /** Returns null unless issued for this account. */
  read(cookie: string | undefined, accountId: string): string | null {
    const match = /^([0-9A-Za-z]{22})\.([\w-]{43})$/.exec(cookie ?? '');
    if (!match) return null;
    const [, device = '', mac = ''] = match;
    return timingSafeEqual(Buffer.from(mac), Buffer.from(this.#sign(accountId, device))) ? device : null;
  }

  #sign(accountId: string, device: string): string {
    return createHmac('sha256', this.#key).update(`${accountId}\n${device}`).digest('base64url');
  }
}

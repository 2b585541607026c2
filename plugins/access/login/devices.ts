/**
 * Device cookies (contract 10, accounts): a browser that has logged in to an account carries a signed cookie for it and
 * has its own throttle count, so that failed logins from elsewhere cannot lock an administrator out. The cookie opens
 * nothing: the password is still required.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { PORT, inject, injectable, type Ids } from '../../../kernel/contract.js';
import type { Cipher } from '../../../ports/cipher.js';

export const DEVICE_COOKIE = 'svc_device';
export const DEVICE_SECONDS = 180 * 24 * 3600;

@injectable()
export class Devices {
  readonly #key: Buffer;

  constructor(
    @inject(PORT.cipher) cipher: Cipher,
    @inject(PORT.ids) private readonly ids: Ids,
  ) {
    this.#key = cipher.derive('device-cookie');
  }

  /** A cookie value for one browser and one account. */
  issue(accountId: string): string {
    const device = this.ids.secret(22);
    return `${device}.${this.#sign(accountId, device)}`;
  }

  /** The device's id when the cookie was issued for this account; null for another's, a forged or a missing one. */
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

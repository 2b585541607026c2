/** Sends a license key to the customer by mail; the key is never logged. */
import { conflict, invalid, refuse } from '../../../kernel/errors.js';
import type { Principal } from '../../../kernel/contract/index.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { HOUR_MS, MINUTE_MS } from '../../../lib/time.js';
import type { LicenseDoc } from '../model/documents.js';
import { buildCustomerPageUrl, buildKeyMessage, toMailHtml, type KeyMessage } from './key-message.js';
import type { LicensePageServices } from './page-context.js';

const MIN_INTERVAL_MS = 5 * MINUTE_MS;
const MAX_MAILS_PER_HOUR = 100;

type SoldLicense = Parameters<typeof buildKeyMessage>[0];

export async function composeKeyMessage(
  { deps }: Pick<LicensePageServices, 'deps'>,
  license: SoldLicense,
  key: string,
): Promise<KeyMessage & { url: string }> {
  const [project, own, common] = await Promise.all([
    deps.projects.get(license.product),
    deps.brands.find(license.product),
    deps.brands.findCommon(),
  ]);
  const url = buildCustomerPageUrl(deps.baseUrl(), license.product);
  const seller = own?.name ?? common?.name ?? null;
  return { ...buildKeyMessage(license, key, { product: project?.name ?? license.product, seller, url }), url };
}

export class LicenseKeySender {
  readonly #sent: BoundedMap<true>;
  #hour = { since: -Infinity, mails: 0 };

  constructor(private readonly parts: LicensePageServices) {
    const now = (): number => parts.deps.clock.monotonic();
    this.#sent = new BoundedMap({ most: 10_000, ttlMs: MIN_INTERVAL_MS, now });
  }

  get isConfigured(): boolean {
    return this.parts.deps.mail()?.isConfigured === true;
  }

  /**
   * @returns the address
   * @throws ServiceError conflict (no mail server), validation_failed (no address), rate_limited
   */
  async send(principal: Principal, license: LicenseDoc): Promise<string> {
    const { deps, licenses } = this.parts;
    const mail = deps.mail();
    if (mail?.isConfigured !== true) throw conflict('No mail server is configured. Set notifications.smtp_host.');
    const { id, email: to } = license;
    if (to === null || to === '') throw invalid({ email: 'is missing: edit the license first' });
    this.#takeTurn(id);
    const key = licenses.decryptKey(license);
    const floating = license.floating === true;
    const { subject, text } = await composeKeyMessage(this.parts, { ...license, floating }, key);
    await deps.audit.record(principal, 'license.key_sent', id, { key: license.key_masked, to });
    // One mail per interval, from whichever process.
    const interval = Math.floor(deps.clock.now() / MIN_INTERVAL_MS);
    await mail.enqueue([
      {
        id: `license-key ${id} ${interval}`,
        subject_id: id,
        recipient_id: id,
        to,
        subject,
        text,
        html: toMailHtml(text),
        headers: {},
        urgent: true,
      },
    ]);
    return to;
  }

  #takeTurn(id: string): void {
    const now = this.parts.deps.clock.monotonic();
    if (now - this.#hour.since >= HOUR_MS) this.#hour = { since: now, mails: 0 };
    if (this.#sent.get(id) === true)
      throw refuse(429, 'rate_limited', 'The key was sent less than five minutes ago. Try again later.');
    if (this.#hour.mails >= MAX_MAILS_PER_HOUR)
      throw refuse(429, 'rate_limited', `At most ${MAX_MAILS_PER_HOUR} keys are sent per hour. Try again later.`);
    this.#hour.mails += 1;
    this.#sent.set(id, true);
  }
}

/**
 * Finds this service's tokens, so that a manipulated agent cannot publish its credential (contract
 * 20, untrusted text), despite invisible characters, look-alike letters and line breaks. Encoded
 * tokens, or ones split visibly or across fields, cannot be found.
 */
import { collection, inject, injectable, PORT, type Clock, type Collection } from '../../../kernel/contract/index.js';
import { listCopiedForms } from '../../../lib/text/invisible-characters.js';
import type { LiveTokenDetector } from '../../../ports/domain/live-tokens.js';
import { isLive, computeSha256, type TokenDoc } from '../model/token.js';

/** Intake keys are public. */
const TOKEN_PATTERN = /(?:svc_live_|svc_sub_|wd_live_|svc_setup_)[0-9A-Za-z]{43}/g;
/** Lookups per batch; a body of 1 MiB holds at most 20,000. */
const BATCH_SIZE = 500;

@injectable()
export class TokenFinder implements LiveTokenDetector {
  constructor(
    @inject(collection<TokenDoc>('tokens')) private readonly rows: Collection<TokenDoc>,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  async hasLiveToken(text: string): Promise<boolean> {
    const found = [...new Set(listCopiedForms(text).flatMap((form) => form.match(TOKEN_PATTERN) ?? []))].map((secret) =>
      computeSha256(secret),
    );
    for (let at = 0; at < found.length; at += BATCH_SIZE) {
      const ids = found.slice(at, at + BATCH_SIZE);
      const { items } = await this.rows.find({ filter: { id: { in: ids } }, limit: BATCH_SIZE });
      const now = this.clock.iso();
      if (items.some((token) => isLive(token, now))) return true;
    }
    return false;
  }
}

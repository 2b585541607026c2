/** Lists licenses for the release store (contract 40, access files). */
import { inject, injectable, type Clock, type Collection, type Logger } from '../../../kernel/contract.js';
import { each } from '../../../lib/paging.js';
import { isoOf } from '../../../lib/time.js';
import type { LicenseCredential, LicenseDirectory } from '../../../ports/domain/licensing.js';
import type { Filter } from '../../../ports/store.js';
import { ToldDamage } from '../../../ports/store/told-damage.js';
import { DEPS } from '../deps.js';
import { getCredentialName } from '../model/key.js';
import type { LicenseDoc } from '../model/documents.js';
import { OpeningMarks } from './marks.js';

const PAGE = 1_000;

@injectable()
export class LicenseDirectoryAdapter implements LicenseDirectory {
  readonly #damage: ToldDamage;

  constructor(
    @inject(DEPS) private readonly deps: { licenses: Collection<LicenseDoc>; clock: Clock; log: Logger },
    @inject(OpeningMarks) private readonly marks: OpeningMarks,
  ) {
    this.#damage = new ToldDamage(deps.log, 'a license');
  }

  async *opening(product: string): AsyncGenerator<LicenseCredential, void, undefined> {
    const now = isoOf(this.deps.clock.now());
    // A filter on an unindexed field would fail for all licenses when one document is damaged.
    const query = { filter: { product, status: 'active' }, limit: PAGE, damaged: this.#damage.tell };
    for await (const { key_sha256, key_hash, expires_at } of each(this.deps.licenses, query)) {
      if (expires_at !== null && expires_at <= now) continue;
      if (key_hash !== null) yield { name: getCredentialName(key_sha256), hash: key_hash, valid_until: expires_at };
    }
  }

  mark(): Promise<string> {
    return this.marks.read();
  }

  async byKeySha256(key_sha256: string): Promise<{ id: string; product: string } | null> {
    const filter: Filter = { key_sha256, status: 'active', ...this.#unexpired() };
    const [license] = (await this.deps.licenses.find({ filter, limit: 1 })).items;
    return license === undefined ? null : { id: license.id, product: license.product };
  }

  #unexpired(): Filter {
    return { or: [{ expires_at: null }, { expires_at: { gt: isoOf(this.deps.clock.now()) } }] };
  }
}

import { inject, injectable, type Clock, type Collection, type Logger } from '../../../kernel/contract/index.js';
import { iterateItems } from '../../../lib/paging.js';
import { toIsoString } from '../../../lib/time.js';
import type { LicenseCredential, LicenseDirectory } from '../../../ports/domain/licensing.js';
import type { Filter } from '../../../ports/store/index.js';
import { CorruptionReporter } from '../../../ports/store/corruption-reporter.js';
import { DEPS } from '../deps.js';
import { getCredentialName } from '../model/key.js';
import type { LicenseDoc } from '../model/documents.js';
import { StoreAccessMarks } from './store-access-marks.js';

const PAGE_SIZE = 1_000;

@injectable()
export class LicenseDirectoryAdapter implements LicenseDirectory {
  readonly #damage: CorruptionReporter;

  constructor(
    @inject(DEPS.licenses) private readonly licenses: Collection<LicenseDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) log: Logger,
    @inject(StoreAccessMarks) private readonly marks: StoreAccessMarks,
  ) {
    this.#damage = new CorruptionReporter(log, 'a license');
  }

  async *iterateCredentials(product: string): AsyncGenerator<LicenseCredential, void, undefined> {
    const now = toIsoString(this.clock.now());
    // On an unindexed field, one damaged document would fail all licenses.
    const query = { filter: { product, status: 'active' }, limit: PAGE_SIZE, damaged: this.#damage.report };
    for await (const { key_sha256, key_hash, expires_at } of iterateItems(this.licenses, query)) {
      if (expires_at !== null && expires_at <= now) continue;
      if (key_hash !== null) yield { name: getCredentialName(key_sha256), hash: key_hash, valid_until: expires_at };
    }
  }

  getRevision(): Promise<string> {
    return this.marks.read();
  }

  async findByKeySha256(key_sha256: string): Promise<{ id: string; product: string } | null> {
    const filter: Filter = { key_sha256, status: 'active', ...this.#buildUnexpiredFilter() };
    const [license] = (await this.licenses.find({ filter, limit: 1 })).items;
    return license === undefined ? null : { id: license.id, product: license.product };
  }

  #buildUnexpiredFilter(): Filter {
    return { or: [{ expires_at: null }, { expires_at: { gt: toIsoString(this.clock.now()) } }] };
  }
}

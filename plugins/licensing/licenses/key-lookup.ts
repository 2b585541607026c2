/** A key never moves to another license, so the id is cached. */
import { inject, injectable, type Collection } from '../../../kernel/contract/index.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { DEPS } from '../deps.js';
import type { LicenseDoc } from '../model/documents.js';

const MAX_CACHED_KEYS = 10_000;

@injectable()
export class LicenseKeyLookup {
  readonly #ids = new BoundedMap<string>({ most: MAX_CACHED_KEYS });

  constructor(@inject(DEPS.licenses) private readonly licenses: Collection<LicenseDoc>) {}

  /** @param key_sha256 in lower case */
  async find(key_sha256: string): Promise<LicenseDoc | null> {
    const licenses = this.licenses;
    const id = this.#ids.get(key_sha256);
    const known = id === undefined ? null : await licenses.get(id);
    if (known?.key_sha256 === key_sha256) return known;
    const { items } = await licenses.find({ filter: { key_sha256 }, limit: 1 });
    const found = items[0] ?? null;
    if (found !== null) this.#ids.set(key_sha256, found.id);
    return found;
  }
}

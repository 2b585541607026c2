/**
 * Ping URLs of imported monitors, stored as hashes because they are secrets, and identities that a
 * repeated import recognizes. Both are deleted with their monitor.
 */
import { createHash } from 'node:crypto';
import { inject, injectable } from '../../../kernel/contract/index.js';
import { DEPS } from '../deps.js';
import type { Clock } from '../../../ports/clock.js';
import type { AddressDoc } from '../model/documents.js';
import type { Collection } from '../../../ports/store/index.js';

/** No import creates another form. */
const SECRET_PATTERN = /^[0-9A-Za-z_-]{10,100}$/;

type AddressKind = 'address' | 'identity';
const getAddressId = (kind: AddressKind, text: string): string =>
  createHash('sha256').update(`${kind} ${text}`).digest('hex');

@injectable()
export class ImportedAddressStore {
  constructor(
    @inject(DEPS.addresses) private readonly addresses: Collection<AddressDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
  ) {}

  async findSource(secret: string): Promise<string | null> {
    return SECRET_PATTERN.test(secret) ? this.#find('address', secret) : null;
  }

  async findSourceByIdentities(identities: readonly string[]): Promise<string | null> {
    for (const identity of identities) {
      const source = await this.#find('identity', identity);
      if (source !== null) return source;
    }
    return null;
  }

  /** Returns false when the secret is malformed or belongs to another monitor. */
  async saveAddress(secret: string, source: string): Promise<boolean> {
    if (!SECRET_PATTERN.test(secret)) return false;
    await this.#insert('address', secret, source);
    return (await this.#find('address', secret)) === source;
  }

  async saveIdentities(identities: readonly string[], source: string): Promise<void> {
    for (const identity of identities) await this.#insert('identity', identity, source);
  }

  async #find(kind: AddressKind, text: string): Promise<string | null> {
    return (await this.addresses.get(getAddressId(kind, text)))?.source ?? null;
  }

  async #insert(kind: AddressKind, text: string, source: string): Promise<void> {
    const { addresses, clock } = this;
    await addresses.change(
      { id: getAddressId(kind, text) },
      { setOnInsert: { source, created_at: clock.iso() } },
      { upsert: true },
    );
  }
}

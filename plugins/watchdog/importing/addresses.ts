/**
 * Ping addresses that came with imported monitors: `/ping/<uuid>` of Healthchecks, `/api/push/<token>` of Uptime Kuma.
 * They are secrets as tokens are, so that only their hashes are stored; they go with their monitor. So do the
 * identities by which another import recognizes a monitor.
 */
import { createHash } from 'node:crypto';
import { inject, injectable } from '../../../kernel/contract.js';
import { DEPS, type WatchdogDeps } from '../deps.js';

/** Nothing shorter is a secret, and nothing of another form was ever imported. */
const SECRET_PATTERN = /^[0-9A-Za-z_-]{10,100}$/;

type Kind = 'address' | 'identity';
const getAddressId = (kind: Kind, text: string): string => createHash('sha256').update(`${kind} ${text}`).digest('hex');

@injectable()
export class ImportedAddresses {
  constructor(@inject(DEPS) private readonly deps: Pick<WatchdogDeps, 'addresses' | 'clock'>) {}

  /** The source that an address reports for; null: there is no such address. */
  async findSource(secret: string): Promise<string | null> {
    return SECRET_PATTERN.test(secret) ? this.#find('address', secret) : null;
  }

  /** The source of the monitor that an import made of this one; null: it is new. */
  async recognize(identities: readonly string[]): Promise<string | null> {
    for (const identity of identities) {
      const source = await this.#find('identity', identity);
      if (source !== null) return source;
    }
    return null;
  }

  /** False: the secret has no form that is taken, or is the address of another monitor. */
  async keep(secret: string, source: string): Promise<boolean> {
    if (!SECRET_PATTERN.test(secret)) return false;
    await this.#insert('address', secret, source);
    return (await this.#find('address', secret)) === source;
  }

  async identify(identities: readonly string[], source: string): Promise<void> {
    for (const identity of identities) await this.#insert('identity', identity, source);
  }

  async #find(kind: Kind, text: string): Promise<string | null> {
    return (await this.deps.addresses.get(getAddressId(kind, text)))?.source ?? null;
  }

  async #insert(kind: Kind, text: string, source: string): Promise<void> {
    const { addresses, clock } = this.deps;
    await addresses.change(
      { id: getAddressId(kind, text) },
      { setOnInsert: { source, created_at: clock.iso() } },
      { upsert: true },
    );
  }

  async forget(source: string): Promise<void> {
    await this.deps.addresses.remove({ source });
  }
}

/**
 * Ping addresses that came with imported monitors: `/ping/<uuid>` of Healthchecks, `/api/push/<token>` of Uptime Kuma.
 * They are secrets as tokens are, so that only their hashes are stored; they go with their monitor.
 */
import { createHash } from 'node:crypto';
import { inject, injectable } from '../../../kernel/contract.js';
import { DEPS, type WatchdogDeps } from '../deps.js';

/** Nothing shorter is a secret, and nothing of another form was ever imported. */
const FORM = /^[0-9A-Za-z-]{10,100}$/;

const idOf = (secret: string): string => createHash('sha256').update(`address ${secret}`).digest('hex');

@injectable()
export class ImportedAddresses {
  constructor(@inject(DEPS) private readonly deps: Pick<WatchdogDeps, 'addresses' | 'clock'>) {}

  /** The source that an address reports for; null: there is no such address. */
  async sourceOf(secret: string): Promise<string | null> {
    if (!FORM.test(secret)) return null;
    return (await this.deps.addresses.get(idOf(secret)))?.source ?? null;
  }

  /** False: the secret has no form that is taken. */
  async keep(secret: string, source: string): Promise<boolean> {
    if (!FORM.test(secret)) return false;
    const { addresses, clock } = this.deps;
    await addresses.change(
      { id: idOf(secret) },
      { setOnInsert: { source, created_at: clock.iso() } },
      { upsert: true },
    );
    return true;
  }

  async forget(source: string): Promise<void> {
    await this.deps.addresses.remove({ source });
  }
}

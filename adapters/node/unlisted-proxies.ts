/**
 * Records addresses that send `X-Forwarded-For` but are missing in `server.trusted_proxies`. Behind
 * such a proxy all callers share one address and its rate limits.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../ports/clock.js';
import type { Logger } from '../../ports/logger.js';
import type { UnlistedProxy } from '../../ports/domain/system.js';
import { replaceFile } from '../../lib/files/replace-file.js';

const FILE_NAME = 'unlisted-proxies.json';
/** Untrusted clients can send the header from any number of addresses. */
const MAX_PROXIES = 20;
const REWRITE_INTERVAL_MS = 3_600_000;
const RETENTION_MS = 7 * 24 * REWRITE_INTERVAL_MS;

export class UnlistedProxyRecorder {
  readonly #seen = new Map<string, number>();
  #writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly folder: string | null,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** An arrow function, because the web server receives it unbound. */
  readonly record = (address: string): void => {
    const now = this.clock.now();
    const known = this.#seen.get(address);
    if (known !== undefined && now - known < REWRITE_INTERVAL_MS) return;
    this.#seen.delete(address);
    this.#seen.set(address, now);
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= MAX_PROXIES) break;
      this.#seen.delete(oldest);
    }
    this.#writing = this.#writing.then(() => this.#write());
  };

  list(): UnlistedProxy[] {
    return selectNewest(
      [...this.#seen].map(([address, at]) => ({ address, last_at: new Date(at).toISOString() })),
      this.clock.now(),
    );
  }

  flush(): Promise<void> {
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (this.folder === null) return;
    try {
      await replaceFile(join(this.folder, FILE_NAME), `${JSON.stringify({ seen: this.list() })}\n`);
    } catch (err) {
      this.log.warn({ err }, 'the addresses of unlisted proxies could not be stored');
    }
  }
}

export async function readUnlistedProxies(folder: string, now: number): Promise<UnlistedProxy[]> {
  let text: string;
  try {
    text = await readFile(join(folder, FILE_NAME), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return selectNewest((JSON.parse(text) as { seen: UnlistedProxy[] }).seen, now);
}

const selectNewest = (all: readonly UnlistedProxy[], now: number): UnlistedProxy[] =>
  all
    .filter(({ last_at }) => now - Date.parse(last_at) < RETENTION_MS)
    .toSorted((a, b) => (a.last_at < b.last_at ? 1 : -1));

/**
 * Stores the files of releases by hash (contract 97, files of a release) in the background, one
 * release at a time: a publish does not wait for them, and requests are served from the package
 * until they are there.
 */
import { inject, injectable, type Logger } from '../../../kernel/contract/index.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { DiskFull, type ReleaseLocation, type ReleaseStore } from '../../../ports/release-store.js';
import { DEPS } from '../deps.js';
import { formatReleaseName } from '../release-place.js';

@injectable()
export class ReleaseFilesUpdater {
  readonly #mutex = new KeyedMutex();
  readonly #waiting = new Map<string, ReleaseLocation>();
  readonly #stopped = new AbortController();
  /** By release. */
  readonly #faults = new Map<string, Error>();
  #running: Promise<void> | null = null;
  #started: Promise<void> | null = null;

  constructor(
    @inject(DEPS.store) private readonly store: ReleaseStore,
    @inject(DEPS.log) private readonly log: Logger,
  ) {}

  /** Why files of a release are unpacked at each request; null when none are. */
  get fault(): string | null {
    const [first] = this.#faults;
    return first === undefined ? null : `${first[0]}: ${first[1].message}`;
  }

  /** After a release was published, replaced or withdrawn. */
  schedule(place: ReleaseLocation): void {
    this.#waiting.set(formatReleaseName(place), place);
    this.#running ??= this.#updateWaiting();
  }

  /** Repairs in the background what a crash interrupted. */
  start(): void {
    this.#started = this.updateAll(this.#stopped.signal).catch((err: unknown) =>
      this.log.error({ err }, 'the files of releases could not be checked; this will be retried'),
    );
  }

  async updateAll(signal: AbortSignal = this.#stopped.signal): Promise<void> {
    const removed = new Set(this.#faults.keys());
    for await (const place of this.store.packages.iterateLocations()) {
      if (signal.aborted) return;
      removed.delete(formatReleaseName(place));
      await this.#update(place, signal);
    }
    for (const name of removed) this.#faults.delete(name);
  }

  /** Interrupts the work, which the next start resumes. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([this.#started, this.#running]);
  }

  async #updateWaiting(): Promise<void> {
    for (const [name, place] of this.#waiting) {
      this.#waiting.delete(name);
      await this.#update(place, this.#stopped.signal);
    }
    this.#running = null;
  }

  async #update(place: ReleaseLocation, signal: AbortSignal): Promise<void> {
    const name = formatReleaseName(place);
    try {
      await this.#mutex.run('', async () => {
        if (!signal.aborted) await this.store.packages.updateFiles(place, signal);
      });
      this.#faults.delete(name);
    } catch (error) {
      if (!signal.aborted) this.#reportFault(name, error as Error);
    }
  }

  /** Once for each release, and once for all while the disk is full. */
  #reportFault(release: string, err: Error): void {
    const isKnown =
      this.#faults.get(release)?.message === err.message ||
      (err instanceof DiskFull && [...this.#faults.values()].some((fault) => fault instanceof DiskFull));
    this.#faults.set(release, err);
    if (!isKnown)
      this.log.warn({ err, release }, 'the files of a release could not be stored; each request unpacks them');
  }
}

/**
 * Caches every release, statement and project in each process, for requests without a credential
 * (contract 40, asking). Changes of other processes show within two seconds; polls overlap, because
 * clocks differ and writes take time. A release shows only together with its texts. Without
 * requests it polls infrequently, and the next request waits for a poll (`ensureCurrent`).
 */
import { inject, injectable, type Collection, type Clock, type Logger } from '../../../kernel/contract/index.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { iteratePages } from '../../../lib/paging.js';
import { toIsoString, MINUTE_MS, SECOND_MS } from '../../../lib/time.js';
import type { ProjectInfo, ProjectDirectory } from '../../../ports/domain/projects.js';
import { CorruptionReporter } from '../../../ports/store/corruption-reporter.js';
import { StoreDamaged } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import type { ReleaseDoc, StatementDoc } from '../model.js';
import { ChannelReleases, listOfferable, type CachedRelease, type PlatformViews } from './channel-releases.js';
import { ManifestRepository } from './manifest-repository.js';
import { ReleaseJson } from './release-json.js';

const POLL_MS = 1.5 * SECOND_MS;
const QUIET_MS = MINUTE_MS;
const QUIET_POLL_MS = 30 * SECOND_MS;
const POLL_TIMEOUT_MS = SECOND_MS;
const POLL_OVERLAP_MS = MINUTE_MS;
/** After recent release changes, or after this time: otherwise statements change once a day. */
const STATEMENT_POLL_MS = 15 * SECOND_MS;
/** A restored backup changes documents without new timestamps. */
const FULL_READ_INTERVAL_MS = 10 * MINUTE_MS;
const PAGE_SIZE = 200;

interface CachedText {
  rev: number;
  json: ReleaseJson;
}

export interface ChannelSnapshot {
  releases: ChannelReleases;
  views: PlatformViews;
  texts: ReadonlyMap<string, CachedText>;
}

const EMPTY_CHANNEL: ChannelSnapshot = {
  releases: new ChannelReleases(),
  views: new ChannelReleases().getViews(),
  texts: new Map(),
};

@injectable()
export class ReleaseIndex {
  readonly #channels = new Map<string, ChannelSnapshot>();
  readonly #names = new Map<string, Set<string>>();
  readonly #statements = new Map<string, StatementDoc>();
  #projects = new Map<string, ProjectInfo>();
  readonly #mutex = new KeyedMutex();
  readonly #pending = new Map<string, ReleaseDoc[]>();
  readonly #damage: CorruptionReporter;
  #hasUnreadable = false;
  #since: number | null = null;
  #wholeAt = 0;
  #statementsAt = -Infinity;
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> = Promise.resolve();
  #open = false;
  #askedAt = -Infinity;
  #isIdle = false;
  #waking: Promise<void> | null = null;

  constructor(
    @inject(DEPS.releases) private readonly releases: Collection<ReleaseDoc>,
    @inject(DEPS.statements) private readonly statements: Collection<StatementDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.projects) private readonly projects: ProjectDirectory,
    @inject(ManifestRepository) private readonly manifests: ManifestRepository,
  ) {
    this.#damage = new CorruptionReporter(log, 'a release');
  }

  async start(): Promise<void> {
    await this.refresh();
    this.#open = true;
    this.#schedulePoll();
  }

  /**
   * Returns null when at most two seconds behind the store; else resolves when it is, or after a
   * timeout.
   */
  ensureCurrent(): Promise<void> | null {
    this.#askedAt = this.clock.monotonic();
    if (this.#isIdle && this.#open) this.#waking ??= this.#pollOnDemand();
    return this.#waking;
  }

  async #pollOnDemand(): Promise<void> {
    this.#isIdle = false;
    const looked = (this.#polling = this.#polling.then(() => this.#poll()));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, POLL_TIMEOUT_MS)));
    await Promise.race([looked, late]);
    clearTimeout(timer);
    this.#waking = null;
  }

  async stop(): Promise<void> {
    this.#open = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#polling;
  }

  /** Commands do not call `start`. */
  async load(): Promise<void> {
    if (this.#since === null) await this.refresh();
  }

  async refresh(): Promise<void> {
    const { releases, statements, clock } = this;
    const [now, elapsed] = [clock.now(), clock.monotonic()];
    const whole = this.#since === null || elapsed - this.#wholeAt >= FULL_READ_INTERVAL_MS;
    // After a clock moved backwards, writes have earlier timestamps.
    const since = Math.min(this.#since ?? 0, now) - POLL_OVERLAP_MS;
    const filter = whole ? {} : { updated_at: { gte: toIsoString(since) } };
    const sort = [['updated_at', 'asc']] as const;
    const [projects] = await Promise.all([this.projects.list(), this.#retryPending()]);
    this.#projects = new Map(projects.map((project) => [project.slug, project]));
    let changed = false;
    let lacks = !whole && this.#hasUnreadable;
    const damaged = (error: StoreDamaged): void => {
      lacks = true;
      this.#damage.report(error);
    };
    for await (const docs of iteratePages(releases, { filter, sort, limit: PAGE_SIZE, damaged })) {
      changed ||= docs.length > 0;
      await this.update(docs);
    }
    this.#hasUnreadable = lacks;
    if (changed || whole || elapsed - this.#statementsAt >= STATEMENT_POLL_MS) {
      for await (const docs of iteratePages(statements, {
        filter,
        sort,
        limit: PAGE_SIZE,
        damaged: this.#damage.report,
      }))
        docs.forEach((doc) => this.updateStatement(doc));
      this.#statementsAt = elapsed;
    }
    this.#since = now;
    if (whole) this.#wholeAt = elapsed;
  }

  /** @param manifests texts that the caller has, by release id */
  async update(docs: readonly ReleaseDoc[], manifests: ReadonlyMap<string, string> = new Map()): Promise<void> {
    const byChannel = new Map<string, ReleaseDoc[]>();
    for (const doc of docs) {
      const key = toChannelKey(doc.product, doc.channel);
      this.#names.set(doc.product, (this.#names.get(doc.product) ?? new Set()).add(doc.channel));
      byChannel.set(key, [...(byChannel.get(key) ?? []), doc]);
    }
    for (const [key, changed] of byChannel) {
      await this.#mutex.run(key, () => this.#updateChannel(key, changed, manifests));
    }
  }

  updateStatement(doc: StatementDoc): void {
    const key = toChannelKey(doc.product, doc.channel);
    if ((this.#statements.get(key)?.rev ?? 0) < doc.rev) this.#statements.set(key, doc);
  }

  getChannel(product: string, channel: string): ChannelSnapshot {
    return this.#channels.get(toChannelKey(product, channel)) ?? EMPTY_CHANNEL;
  }

  getStatement(product: string, channel: string): StatementDoc | null {
    return this.#statements.get(toChannelKey(product, channel)) ?? null;
  }

  getProject(slug: string): ProjectInfo | null {
    return this.#projects.get(slug) ?? null;
  }

  async loadProject(slug: string): Promise<ProjectInfo | null> {
    const project = await this.projects.get(slug);
    if (project !== null) this.#projects.set(slug, project);
    return project;
  }

  listProducts(): string[] {
    return [...this.#names.keys()];
  }

  listChannels(product: string): string[] {
    return [...(this.#names.get(product) ?? [])].toSorted();
  }

  /**
   * Reads other processes' changes, for callers that write documents from the index.
   * @throws StoreDamaged when the index lacks a release of the product, which the written document
   *   would lose
   */
  async catchUp(product: string): Promise<void> {
    const since = this.#since === null ? null : Math.min(this.#since, this.clock.now()) - POLL_OVERLAP_MS;
    const recent = since === null ? {} : { updated_at: { gte: toIsoString(since) } };
    const query = { filter: { product, ...recent }, sort: [['updated_at', 'asc']] as const, limit: PAGE_SIZE };
    for await (const docs of iteratePages(this.releases, query)) await this.update(docs);
    if (this.#hasUnreadable && (await this.releases.count({ product })) !== this.#countReleases(product)) {
      throw new StoreDamaged({ collection: 'releases', id: null });
    }
  }

  #countReleases(product: string): number {
    return this.listChannels(product).reduce(
      (n, name) => n + [...this.getChannel(product, name).releases.listAll()].length,
      0,
    );
  }

  async #updateChannel(
    key: string,
    docs: readonly ReleaseDoc[],
    manifests: ReadonlyMap<string, string>,
  ): Promise<void> {
    const shown = this.#channels.get(key);
    const releases = shown?.releases ?? new ChannelReleases();
    const changed = docs.filter((doc) => releases.add(toCachedRelease(doc)));
    if (changed.length === 0 && shown !== undefined && !this.#pending.has(key)) return;
    const views = releases.getViews();
    const texts = new Map<string, CachedText>();
    const notes = new Map([...(this.#pending.get(key) ?? []), ...docs].map((doc) => [doc.id, doc]));
    try {
      for (const release of listOfferable(views)) {
        const held = shown?.texts.get(release.id);
        const text = held?.rev === release.rev ? held : await this.#loadText(release, notes, manifests);
        texts.set(release.id, text);
      }
    } catch (error) {
      // Missing when the release was replaced; the next poll reads it. The channel becomes a new
      // object because `releases` changed.
      this.#channels.set(key, { ...(shown ?? EMPTY_CHANNEL), releases });
      this.#pending.set(key, [...notes.values()]);
      this.log.warn({ err: error, channel: key }, 'a release is not offered yet: its manifest cannot be read');
      return;
    }
    this.#pending.delete(key);
    this.#channels.set(key, { releases, views, texts });
  }

  async #loadText(
    release: CachedRelease,
    docs: ReadonlyMap<string, ReleaseDoc>,
    manifests: ReadonlyMap<string, string>,
  ): Promise<CachedText> {
    const { id, rev, manifest_sha256 } = release;
    const given = docs.get(id);
    const doc = given?.rev === rev ? given : await this.releases.get(id);
    if (doc === null || doc.manifest_sha256 !== manifest_sha256) throw new Error(`release ${id} changed meanwhile`);
    const manifest = manifests.get(id) ?? (await this.manifests.read(id, manifest_sha256));
    if (manifest === null) throw new Error(`release ${id} has no manifest`);
    return { rev, json: new ReleaseJson(release, doc.release_notes, manifest) };
  }

  async #retryPending(): Promise<void> {
    for (const key of this.#pending.keys()) await this.#mutex.run(key, () => this.#updateChannel(key, [], new Map()));
  }

  #schedulePoll(): void {
    const look = (): void => void (this.#polling = this.#poll());
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#isIdle = this.clock.monotonic() - this.#askedAt >= QUIET_MS;
    this.#timer = setTimeout(look, this.#isIdle ? QUIET_POLL_MS : POLL_MS);
    this.#timer.unref();
  }

  async #poll(): Promise<void> {
    try {
      await this.refresh();
    } catch (err) {
      this.log.error({ err }, 'loading changed releases failed; this will be retried');
    }
    if (this.#open) this.#schedulePoll();
  }
}

const toChannelKey = (product: string, channel: string): string => `${product} ${channel}`;

/** Memory holds ten thousand of these. */
function toCachedRelease(doc: ReleaseDoc): CachedRelease {
  const { id, rev, product, channel, version, platform, mandatory, rollout_percent, min_version, published_at } = doc;
  const { package_size, package_sha256, manifest_sha256, manifest_signature, key_id, runtime, has_setup } = doc;
  const { withdrawn_at, halted_at, rolled_back } = doc;
  const name = { id, rev, product, channel, version, platform, mandatory, rollout_percent, min_version, published_at };
  const file = { package_size, package_sha256, manifest_sha256, manifest_signature, key_id, runtime, has_setup };
  const state = { withdrawn_at, halted_at, ...(rolled_back === undefined ? {} : { rolled_back }) };
  return { ...name, ...file, ...state };
}

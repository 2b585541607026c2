/**
 * Caches every release, statement and project in each process, for requests without a credential
 * (contract 40, asking). Changes of other processes show within two seconds; polls overlap, because
 * clocks differ and writes take time. A release shows only together with its texts. Without
 * requests it polls infrequently, and the next request waits for a poll (`ensureCurrent`).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { iteratePages } from '../../../lib/paging.js';
import { isoOf, MINUTE_MS, SECOND_MS } from '../../../lib/time.js';
import type { ProjectInfo } from '../../../ports/domain/projects.js';
import { ToldDamage } from '../../../ports/store/told-damage.js';
import { StoreDamaged } from '../../../ports/store.js';
import { DEPS, type ReleaseDeps } from '../deps.js';
import type { ReleaseDoc, StatementDoc } from '../model.js';
import { ChannelReleases, listOfferable, type CachedRelease, type PlatformViews } from './channel-releases.js';
import { StoredManifests } from './manifest-texts.js';
import { ReleaseJson } from './release-json.js';

const POLL_MS = 1.5 * SECOND_MS;
const QUIET_MS = MINUTE_MS;
const QUIET_POLL_MS = 30 * SECOND_MS;
const PATIENCE_MS = SECOND_MS;
const MARGIN_MS = MINUTE_MS;
/**
 * Statements are polled after recent release changes, or after this time: otherwise they change
 * once a day.
 */
const STATEMENTS_MS = 15 * SECOND_MS;
/** Interval of full reads: restoring a backup changes documents without new timestamps. */
const WHOLE_MS = 10 * MINUTE_MS;
const PAGE = 200;

interface HeldText {
  rev: number;
  json: ReleaseJson;
}

export interface ShownChannel {
  releases: ChannelReleases;
  views: PlatformViews;
  texts: ReadonlyMap<string, HeldText>;
}

const NOTHING: ShownChannel = {
  releases: new ChannelReleases(),
  views: new ChannelReleases().views(),
  texts: new Map(),
};

@injectable()
export class ReleaseIndex {
  readonly #channels = new Map<string, ShownChannel>();
  readonly #names = new Map<string, Set<string>>();
  readonly #statements = new Map<string, StatementDoc>();
  #projects = new Map<string, ProjectInfo>();
  readonly #mutex = new KeyedMutex();
  readonly #behind = new Map<string, ReleaseDoc[]>();
  readonly #damage: ToldDamage;
  #lacks = false;
  #since: number | null = null;
  #wholeAt = 0;
  #statementsAt = -Infinity;
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> = Promise.resolve();
  #open = false;
  #askedAt = -Infinity;
  #quiet = false;
  #waking: Promise<void> | null = null;

  constructor(
    @inject(DEPS) private readonly deps: ReleaseDeps,
    @inject(StoredManifests) private readonly manifests: StoredManifests,
  ) {
    this.#damage = new ToldDamage(deps.log, 'a release');
  }

  async start(): Promise<void> {
    await this.refresh();
    this.#open = true;
    this.#later();
  }

  /**
   * Ensures recent data before a response.
   * @returns null when the index is at most two seconds behind the store; else resolves when it is,
   *   or after a timeout
   */
  current(): Promise<void> | null {
    this.#askedAt = this.deps.clock.monotonic();
    if (this.#quiet && this.#open) this.#waking ??= this.#wake();
    return this.#waking;
  }

  async #wake(): Promise<void> {
    this.#quiet = false;
    const looked = (this.#polling = this.#polling.then(() => this.#look()));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)));
    await Promise.race([looked, late]);
    clearTimeout(timer);
    this.#waking = null;
  }

  async stop(): Promise<void> {
    this.#open = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#polling;
  }

  /** Reads everything once; commands do not call `start`. */
  async read(): Promise<void> {
    if (this.#since === null) await this.refresh();
  }

  async refresh(): Promise<void> {
    const { releases, statements, clock } = this.deps;
    const [now, elapsed] = [clock.now(), clock.monotonic()];
    const whole = this.#since === null || elapsed - this.#wholeAt >= WHOLE_MS;
    // After a clock moved backwards, writes have earlier timestamps.
    const since = Math.min(this.#since ?? 0, now) - MARGIN_MS;
    const filter = whole ? {} : { updated_at: { gte: isoOf(since) } };
    const sort = [['updated_at', 'asc']] as const;
    const [projects] = await Promise.all([this.deps.projects.list(), this.#retry()]);
    this.#projects = new Map(projects.map((project) => [project.slug, project]));
    let changed = false;
    let lacks = !whole && this.#lacks;
    const damaged = (error: StoreDamaged): void => {
      lacks = true;
      this.#damage.tell(error);
    };
    for await (const docs of iteratePages(releases, { filter, sort, limit: PAGE, damaged })) {
      changed ||= docs.length > 0;
      await this.show(docs);
    }
    this.#lacks = lacks;
    if (changed || whole || elapsed - this.#statementsAt >= STATEMENTS_MS) {
      for await (const docs of iteratePages(statements, { filter, sort, limit: PAGE, damaged: this.#damage.tell }))
        docs.forEach((doc) => this.showStatement(doc));
      this.#statementsAt = elapsed;
    }
    this.#since = now;
    if (whole) this.#wholeAt = elapsed;
  }

  /**
   * Indexes changed releases.
   * @param manifests texts that the caller has, by release id
   */
  async show(docs: readonly ReleaseDoc[], manifests: ReadonlyMap<string, string> = new Map()): Promise<void> {
    const byChannel = new Map<string, ReleaseDoc[]>();
    for (const doc of docs) {
      const key = keyOf(doc.product, doc.channel);
      this.#names.set(doc.product, (this.#names.get(doc.product) ?? new Set()).add(doc.channel));
      byChannel.set(key, [...(byChannel.get(key) ?? []), doc]);
    }
    for (const [key, changed] of byChannel) {
      await this.#mutex.run(key, () => this.#showIn(key, changed, manifests));
    }
  }

  showStatement(doc: StatementDoc): void {
    const key = keyOf(doc.product, doc.channel);
    if ((this.#statements.get(key)?.rev ?? 0) < doc.rev) this.#statements.set(key, doc);
  }

  channel(product: string, channel: string): ShownChannel {
    return this.#channels.get(keyOf(product, channel)) ?? NOTHING;
  }

  statement(product: string, channel: string): StatementDoc | null {
    return this.#statements.get(keyOf(product, channel)) ?? null;
  }

  project(slug: string): ProjectInfo | null {
    return this.#projects.get(slug) ?? null;
  }

  async youngProject(slug: string): Promise<ProjectInfo | null> {
    const project = await this.deps.projects.get(slug);
    if (project !== null) this.#projects.set(slug, project);
    return project;
  }

  products(): string[] {
    return [...this.#names.keys()];
  }

  channelsOf(product: string): string[] {
    return [...(this.#names.get(product) ?? [])].toSorted();
  }

  /**
   * Reads other processes' changes of a product, for callers that write documents from the index.
   * @throws StoreDamaged when the index lacks a release of the product, which the written document
   *   would lose
   */
  async catchUp(product: string): Promise<void> {
    const since = this.#since === null ? null : Math.min(this.#since, this.deps.clock.now()) - MARGIN_MS;
    const recent = since === null ? {} : { updated_at: { gte: isoOf(since) } };
    const query = { filter: { product, ...recent }, sort: [['updated_at', 'asc']] as const, limit: PAGE };
    for await (const docs of iteratePages(this.deps.releases, query)) await this.show(docs);
    if (this.#lacks && (await this.deps.releases.count({ product })) !== this.#knownOf(product)) {
      throw new StoreDamaged({ collection: 'releases', id: null });
    }
  }

  #knownOf(product: string): number {
    return this.channelsOf(product).reduce((n, name) => n + [...this.channel(product, name).releases.all()].length, 0);
  }

  async #showIn(key: string, docs: readonly ReleaseDoc[], manifests: ReadonlyMap<string, string>): Promise<void> {
    const shown = this.#channels.get(key);
    const releases = shown?.releases ?? new ChannelReleases();
    const changed = docs.filter((doc) => releases.put(knownOf(doc)));
    if (changed.length === 0 && shown !== undefined && !this.#behind.has(key)) return;
    const views = releases.views();
    const texts = new Map<string, HeldText>();
    const notes = new Map([...(this.#behind.get(key) ?? []), ...docs].map((doc) => [doc.id, doc]));
    try {
      for (const release of listOfferable(views)) {
        const held = shown?.texts.get(release.id);
        const text = held?.rev === release.rev ? held : await this.#textOf(release, notes, manifests);
        texts.set(release.id, text);
      }
    } catch (error) {
      // The text is missing when the release was replaced; the next poll reads the new one. The
      // channel becomes a new object because `releases` changed.
      this.#channels.set(key, { ...(shown ?? NOTHING), releases });
      this.#behind.set(key, [...notes.values()]);
      this.deps.log.warn({ err: error, channel: key }, 'a release is not shown yet: its manifest cannot be read');
      return;
    }
    this.#behind.delete(key);
    this.#channels.set(key, { releases, views, texts });
  }

  async #textOf(
    release: CachedRelease,
    docs: ReadonlyMap<string, ReleaseDoc>,
    manifests: ReadonlyMap<string, string>,
  ): Promise<HeldText> {
    const { id, rev, manifest_sha256 } = release;
    const given = docs.get(id);
    const doc = given?.rev === rev ? given : await this.deps.releases.get(id);
    if (doc === null || doc.manifest_sha256 !== manifest_sha256) throw new Error(`release ${id} changed meanwhile`);
    const manifest = manifests.get(id) ?? (await this.manifests.read(id, manifest_sha256));
    if (manifest === null) throw new Error(`release ${id} has no manifest`);
    return { rev, json: new ReleaseJson(release, doc.release_notes, manifest) };
  }

  async #retry(): Promise<void> {
    for (const key of this.#behind.keys()) await this.#mutex.run(key, () => this.#showIn(key, [], new Map()));
  }

  #later(): void {
    const look = (): void => void (this.#polling = this.#look());
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#quiet = this.deps.clock.monotonic() - this.#askedAt >= QUIET_MS;
    this.#timer = setTimeout(look, this.#quiet ? QUIET_POLL_MS : POLL_MS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    try {
      await this.refresh();
    } catch (err) {
      this.deps.log.error({ err }, 'looking for changed releases failed; it is repeated');
    }
    if (this.#open) this.#later();
  }
}

const keyOf = (product: string, channel: string): string => `${product} ${channel}`;

/** Stores only what queries need, because memory holds ten thousand of these. */
function knownOf(doc: ReleaseDoc): CachedRelease {
  const { id, rev, product, channel, version, platform, mandatory, rollout_percent, min_version, published_at } = doc;
  const { package_size, package_sha256, manifest_sha256, manifest_signature, key_id, runtime, has_setup } = doc;
  const { withdrawn_at, halted_at } = doc;
  const name = { id, rev, product, channel, version, platform, mandatory, rollout_percent, min_version, published_at };
  const file = { package_size, package_sha256, manifest_sha256, manifest_signature, key_id, runtime, has_setup };
  return { ...name, ...file, withdrawn_at, halted_at };
}

/**
 * What questions without a credential are answered from: every release, statement and project, in the memory of each
 * process (contract 40, asking). What this process changes shows at once, what others change within two seconds: a look
 * every one and a half asks for what was written since the last one, some time back, since clocks differ and writes
 * take time. A release shows together with its texts, or not yet.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { pages } from '../../../lib/paging.js';
import { isoOf, MINUTE_MS, SECOND_MS } from '../../../lib/time.js';
import type { ProjectInfo } from '../../../ports/domain/projects.js';
import { DEPS, type ReleaseDeps } from '../deps.js';
import type { ReleaseDoc, StatementDoc } from '../model.js';
import { ChannelReleases, offerable, type KnownRelease, type PlatformViews } from './channel-releases.js';
import { StoredManifests } from './manifest-texts.js';
import { ReleaseJson } from './release-json.js';

const POLL_MS = 1.5 * SECOND_MS;
/** How long after its stamp a write may become visible. */
const MARGIN_MS = MINUTE_MS;
/** Everything is read again: what changed behind the stamps, for example a store put back from a copy. */
const WHOLE_MS = 10 * MINUTE_MS;
const PAGE = 200;

/** The text of a release, as of one revision of it. */
interface HeldText {
  rev: number;
  json: ReleaseJson;
}

/** A channel as it is shown. */
export interface ShownChannel {
  releases: ChannelReleases;
  views: PlatformViews;
  /** Of those that may be offered, by release id. */
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
  /** Product → its channels. */
  readonly #names = new Map<string, Set<string>>();
  readonly #statements = new Map<string, StatementDoc>();
  #projects = new Map<string, ProjectInfo>();
  readonly #mutex = new KeyedMutex();
  /** Channels whose change could not be shown yet. */
  readonly #behind = new Map<string, ReleaseDoc[]>();
  #since: number | null = null;
  #wholeAt = 0;
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> = Promise.resolve();
  #open = false;

  constructor(
    @inject(DEPS) private readonly deps: ReleaseDeps,
    @inject(StoredManifests) private readonly manifests: StoredManifests,
  ) {}

  /** Reads everything, and keeps up with it until `stop`. */
  async start(): Promise<void> {
    await this.refresh();
    this.#open = true;
    this.#later();
  }

  async stop(): Promise<void> {
    this.#open = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#polling;
  }

  /** Reads everything, where nothing was read yet: in a command. */
  async read(): Promise<void> {
    if (this.#since === null) await this.refresh();
  }

  /** One look at what changed. */
  async refresh(): Promise<void> {
    const { releases, statements, clock } = this.deps;
    const [now, elapsed] = [clock.now(), clock.monotonic()];
    const whole = this.#since === null || elapsed - this.#wholeAt >= WHOLE_MS;
    // A clock that was put back writes earlier times from then on.
    const since = Math.min(this.#since ?? 0, now) - MARGIN_MS;
    const filter = whole ? {} : { updated_at: { gte: isoOf(since) } };
    const sort = [['updated_at', 'asc']] as const;
    const [projects] = await Promise.all([this.deps.projects.list(), this.#retry()]);
    this.#projects = new Map(projects.map((project) => [project.slug, project]));
    for await (const docs of pages(releases, { filter, sort, limit: PAGE })) await this.show(docs);
    for await (const docs of pages(statements, { filter, sort, limit: PAGE }))
      docs.forEach((doc) => this.showStatement(doc));
    this.#since = now;
    if (whole) this.#wholeAt = elapsed;
  }

  /** Shows changed releases. @param manifests texts that the caller has, by release id */
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

  /** A project that is younger than the last look. */
  async youngProject(slug: string): Promise<ProjectInfo | null> {
    const project = await this.deps.projects.get(slug);
    if (project !== null) this.#projects.set(slug, project);
    return project;
  }

  /** Products with a release. */
  products(): string[] {
    return [...this.#names.keys()];
  }

  channelsOf(product: string): string[] {
    return [...(this.#names.get(product) ?? [])].toSorted();
  }

  /** Reads what others wrote of a product up to now: for those that write down what the index holds. */
  async catchUp(product: string): Promise<void> {
    const recent = this.#since === null ? {} : { updated_at: { gte: isoOf(this.#since - MARGIN_MS) } };
    const query = { filter: { product, ...recent }, sort: [['updated_at', 'asc']] as const, limit: PAGE };
    for await (const docs of pages(this.deps.releases, query)) await this.show(docs);
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
      for (const release of offerable(views)) {
        const held = shown?.texts.get(release.id);
        const text = held?.rev === release.rev ? held : await this.#textOf(release, notes, manifests);
        texts.set(release.id, text);
      }
    } catch (error) {
      // The text of a release that was replaced meanwhile is gone: the next look brings the new one.
      // Another object: `releases` has changed.
      this.#channels.set(key, { ...(shown ?? NOTHING), releases });
      this.#behind.set(key, [...notes.values()]);
      this.deps.log.warn({ err: error, channel: key }, 'a release is not shown yet: its manifest cannot be read');
      return;
    }
    this.#behind.delete(key);
    this.#channels.set(key, { releases, views, texts });
  }

  async #textOf(
    release: KnownRelease,
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
    this.#timer = setTimeout(look, POLL_MS);
    this.#timer.unref();
  }

  /** Never rejects. */
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

/** Ten thousand of these are held, so they are no larger than what questions need. */
function knownOf(doc: ReleaseDoc): KnownRelease {
  const { id, rev, product, channel, version, platform, mandatory, rollout_percent, min_version, published_at } = doc;
  const { package_size, package_sha256, manifest_sha256, manifest_signature, key_id, runtime, has_setup } = doc;
  const { withdrawn_at, halted_at } = doc;
  const name = { id, rev, product, channel, version, platform, mandatory, rollout_percent, min_version, published_at };
  const file = { package_size, package_sha256, manifest_sha256, manifest_signature, key_id, runtime, has_setup };
  return { ...name, ...file, withdrawn_at, halted_at };
}

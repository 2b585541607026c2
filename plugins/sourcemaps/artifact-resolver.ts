/** Finds the map of a script by debug id, otherwise by release and address. */
import { collection, inject, injectable, PORT, type Clock, type Collection } from '../../kernel/contract/index.js';
import { BoundedMap } from '../../lib/bounded-map.js';
import { resolveMapName, listScriptNames } from './script-addresses.js';
import { BundleService } from './bundles.js';
import { toArtifactKey, type Artifact } from './model.js';

const CACHE_TTL_MS = 5_000;
const MAX_CACHED_PAIRS = 2_000;
const MAX_CANDIDATES = 50;

/** Map of a script, and the script itself if it was uploaded. */
export interface MapPair {
  map: Artifact;
  script: Artifact | null;
}

export interface ScriptLookup {
  project: string;
  release: string | null;
  dist: string | null;
  file: string;
  debugId: string | null;
}

interface ArtifactCache {
  pairs: BoundedMap<{ pair: MapPair | null }>;
  projects: BoundedMap<{ some: boolean }>;
  /** Running queries by project, so that many errors query the store once. */
  asking: Map<string, Promise<boolean>>;
}

@injectable()
export class ArtifactResolver {
  #known: ArtifactCache;

  constructor(
    @inject(collection<Artifact>('artifacts')) private readonly artifacts: Collection<Artifact>,
    @inject(BundleService) private readonly bundles: BundleService,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {
    this.#known = this.#createCache();
  }

  #createCache(): ArtifactCache {
    const bounds = { most: MAX_CACHED_PAIRS, ttlMs: CACHE_TTL_MS, now: () => this.clock.monotonic() };
    return { pairs: new BoundedMap(bounds), projects: new BoundedMap(bounds), asking: new Map() };
  }

  hasMapsCached(project: string): boolean | undefined {
    return this.#known.projects.get(project)?.some;
  }

  async hasMaps(project: string): Promise<boolean> {
    return this.hasMapsCached(project) ?? this.#known.asking.get(project) ?? this.#queryHasMaps(project);
  }

  async #queryHasMaps(project: string): Promise<boolean> {
    const { projects, asking: pendingQueries } = this.#known;
    const pendingQuery = this.bundles.hasBundles(project);
    pendingQueries.set(project, pendingQuery);
    try {
      const some = await pendingQuery;
      projects.set(project, { some });
      return some;
    } finally {
      pendingQueries.delete(project);
    }
  }

  /** A running lookup fills the discarded one. */
  clearCache(): void {
    this.#known = this.#createCache();
  }

  async find(script: ScriptLookup): Promise<MapPair | null> {
    const { project, release, dist, file, debugId } = script;
    const name = JSON.stringify([project, release, dist, file, debugId]);
    const { pairs } = this.#known;
    const known = pairs.get(name);
    if (known !== undefined) return known.pair;
    const pair =
      (debugId === null ? null : await this.#findByDebugId(project, debugId)) ?? (await this.#findByRelease(script));
    pairs.set(name, { pair });
    return pair;
  }

  /** Marks a map as unusable, so that it is not read again. */
  async markFaulty(artifact: Artifact, why: string): Promise<void> {
    artifact.fault = why;
    await this.artifacts.change({ id: artifact.id }, { set: { fault: why } });
  }

  async #findByDebugId(project: string, debug_id: string): Promise<MapPair | null> {
    const { items } = await this.artifacts.find({ filter: { project, debug_id }, limit: MAX_CANDIDATES });
    return this.#findNewest(
      items.filter(({ file }) => file.kind === 'map'),
      items,
    );
  }

  async #findByRelease({ project, release, dist, file }: ScriptLookup): Promise<MapPair | null> {
    if (release === null) return null;
    for (const of of dist === null ? [null] : [dist, null]) {
      for (const name of listScriptNames(file)) {
        const scripts = await this.#listByKey(project, toArtifactKey(release, of, name), 'script');
        const script = scripts[0];
        const at = resolveMapName(name, script?.file.mapUrl ?? null);
        if (at === null) continue;
        const found = await this.#findNewest(
          await this.#listByKey(project, toArtifactKey(release, of, at), 'map'),
          scripts,
        );
        if (found !== null) return found;
      }
    }
    return null;
  }

  async #listByKey(project: string, key: string, kind: 'script' | 'map'): Promise<Artifact[]> {
    const { items } = await this.artifacts.find({ filter: { project, key }, limit: MAX_CANDIDATES });
    return items.filter(({ file }) => file.kind === kind).toSorted((a, b) => (a.at < b.at ? 1 : -1));
  }

  /** With the script of the same bundle, otherwise of any. */
  async #findNewest(maps: readonly Artifact[], scripts: readonly Artifact[]): Promise<MapPair | null> {
    for (const map of maps.toSorted((a, b) => (a.at < b.at ? 1 : -1))) {
      const bundle = await this.bundles.find(map.bundle);
      if (bundle?.state !== 'ready') continue;
      const own = scripts.filter(({ file }) => file.kind === 'script');
      return { map, script: own.find((script) => script.bundle === map.bundle) ?? own[0] ?? null };
    }
    return null;
  }
}

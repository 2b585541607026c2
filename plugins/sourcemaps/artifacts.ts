/**
 * Finds the map of a script by debug id, otherwise by release and address. Cached for some seconds.
 */
import { collection, inject, injectable, PORT, type Clock, type Collection } from '../../kernel/contract.js';
import { BoundedMap } from '../../lib/bounded-map.js';
import { mapNameOf, namesOf } from './addresses.js';
import { Bundles } from './bundles.js';
import { keyOf, type Artifact } from './model.js';

const KNOWN_MS = 5_000;
const MOST_KNOWN = 2_000;
const MOST_ALIKE = 50;

/** Map of a script, and the script itself if it was uploaded. */
export interface MapPair {
  map: Artifact;
  script: Artifact | null;
}

export interface ScriptName {
  project: string;
  release: string | null;
  dist: string | null;
  file: string;
  debugId: string | null;
}

/** Cache since the last change of maps. */
interface Known {
  pairs: BoundedMap<{ pair: MapPair | null }>;
  projects: BoundedMap<{ some: boolean }>;
  /** Running queries by project, so that many errors query the store once. */
  asking: Map<string, Promise<boolean>>;
}

@injectable()
export class Artifacts {
  #known: Known;

  constructor(
    @inject(collection<Artifact>('artifacts')) private readonly artifacts: Collection<Artifact>,
    @inject(Bundles) private readonly bundles: Bundles,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {
    this.#known = this.#nothing();
  }

  #nothing(): Known {
    const bounds = { most: MOST_KNOWN, ttlMs: KNOWN_MS, now: () => this.clock.monotonic() };
    return { pairs: new BoundedMap(bounds), projects: new BoundedMap(bounds), asking: new Map() };
  }

  hasSomeNow(project: string): boolean | undefined {
    return this.#known.projects.get(project)?.some;
  }

  async hasSome(project: string): Promise<boolean> {
    return this.hasSomeNow(project) ?? this.#known.asking.get(project) ?? this.#ask(project);
  }

  async #ask(project: string): Promise<boolean> {
    const { projects, asking } = this.#known;
    const asked = this.bundles.some(project);
    asking.set(project, asked);
    try {
      const some = await asked;
      projects.set(project, { some });
      return some;
    } finally {
      asking.delete(project);
    }
  }

  /** Clears the cache. A running lookup fills the discarded one. */
  forget(): void {
    this.#known = this.#nothing();
  }

  async find(script: ScriptName): Promise<MapPair | null> {
    const { project, release, dist, file, debugId } = script;
    const name = JSON.stringify([project, release, dist, file, debugId]);
    const { pairs } = this.#known;
    const known = pairs.get(name);
    if (known !== undefined) return known.pair;
    const pair = (debugId === null ? null : await this.#byDebugId(project, debugId)) ?? (await this.#byRelease(script));
    pairs.set(name, { pair });
    return pair;
  }

  /** Marks a map as unusable, so that it is not read again. */
  async faulty(artifact: Artifact, why: string): Promise<void> {
    artifact.fault = why;
    await this.artifacts.change({ id: artifact.id }, { set: { fault: why } });
  }

  async #byDebugId(project: string, debug_id: string): Promise<MapPair | null> {
    const { items } = await this.artifacts.find({ filter: { project, debug_id }, limit: MOST_ALIKE });
    return this.#newest(
      items.filter(({ file }) => file.kind === 'map'),
      items,
    );
  }

  async #byRelease({ project, release, dist, file }: ScriptName): Promise<MapPair | null> {
    if (release === null) return null;
    for (const of of dist === null ? [null] : [dist, null]) {
      for (const name of namesOf(file)) {
        const scripts = await this.#keyed(project, keyOf(release, of, name), 'script');
        const script = scripts[0];
        const at = mapNameOf(name, script?.file.mapUrl ?? null);
        if (at === null) continue;
        const found = await this.#newest(await this.#keyed(project, keyOf(release, of, at), 'map'), scripts);
        if (found !== null) return found;
      }
    }
    return null;
  }

  async #keyed(project: string, key: string, kind: 'script' | 'map'): Promise<Artifact[]> {
    const { items } = await this.artifacts.find({ filter: { project, key }, limit: MOST_ALIKE });
    return items.filter(({ file }) => file.kind === kind).toSorted((a, b) => (a.at < b.at ? 1 : -1));
  }

  /**
   * Returns the newest map of a ready bundle, with the script of the same bundle, otherwise of any.
   */
  async #newest(maps: readonly Artifact[], scripts: readonly Artifact[]): Promise<MapPair | null> {
    for (const map of maps.toSorted((a, b) => (a.at < b.at ? 1 : -1))) {
      const bundle = await this.bundles.known(map.bundle);
      if (bundle?.state !== 'ready') continue;
      const own = scripts.filter(({ file }) => file.kind === 'script');
      return { map, script: own.find((script) => script.bundle === map.bundle) ?? own[0] ?? null };
    }
    return null;
  }
}

/**
 * The published releases of each project, which `resolved_in_build` is compared with (contract 20, release). They are kept
 * here, because the update service calls the bug tracker and never the other way round.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import type { ReleasePublished } from '../../../ports/domain/releases.js';
import { each } from '../../../lib/paging.js';
import { isoOf } from '../../../lib/time.js';
import { compareVersions, isVersion } from '../../../lib/versions.js';
import { DEPS, hashOf, type Deps } from '../deps.js';
import { buildKey, canonical, type Published } from './builds.js';

const PAGE = 500;

@injectable()
export class KnownBuilds {
  constructor(@inject(DEPS) private readonly deps: Pick<Deps, 'builds' | 'clock'>) {}

  /** Resolves after the commit. The same version in another spelling replaces the first. */
  async add(project: string, { version, build }: Pick<ReleasePublished, 'version' | 'build'>): Promise<void> {
    const named = build === null ? {} : { build_key: buildKey(project, build) };
    const set = { project, version, build, ...named, published_at: isoOf(this.deps.clock.now()) };
    await this.deps.builds.change({ id: hashOf(project, canonical(version)) }, { set }, { upsert: true });
  }

  async remove(project: string, version: string): Promise<void> {
    await this.deps.builds.remove({ id: hashOf(project, canonical(version)) });
  }

  /** The releases of a project that one of `builds` may name, by version or by build name. */
  async matching(project: string, builds: readonly (string | null)[]): Promise<Published> {
    const texts = [...new Set(builds.filter((build) => build !== null))];
    if (texts.length === 0) return [];
    const ids = texts.map((text) => hashOf(project, canonical(text)));
    const keys = texts.map((text) => buildKey(project, text));
    const [byVersion, byName] = await Promise.all([
      this.deps.builds.find({ filter: { id: { in: ids } }, limit: ids.length }),
      this.deps.builds.find({ filter: { build_key: { in: keys } }, limit: 1_000 }),
    ]);
    return [...byVersion.items, ...byName.items];
  }

  /** The highest published version of a project, or null. */
  async latest(project: string): Promise<string | null> {
    let highest: string | null = null;
    for await (const { version } of each(this.deps.builds, { filter: { project }, limit: PAGE })) {
      if (isVersion(version) && (highest === null || compareVersions(version, highest) > 0)) highest = version;
    }
    return highest;
  }
}

/**
 * The published releases of each project, to compare `resolved_in_build` with (contract 20, release). They are kept
 * here, because the update service calls the bug tracker and never the other way round.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import type { PublishedBuild } from '../../../ports/domain/bugs.js';
import { each } from '../../../lib/paging.js';
import { isoOf } from '../../../lib/time.js';
import { compareVersions, isVersion } from '../../../lib/versions.js';
import { DEPS, type BugDeps } from '../deps.js';
import { hashOf } from '../item/document-ids.js';
import { buildKey, canonical, type Published } from '../item/build-names.js';

const PAGE = 500;

@injectable()
export class KnownBuilds {
  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'builds' | 'clock'>) {}

  /**
   * Adds a release; resolves after the commit. The same version in another spelling replaces the first. Its platforms
   * may have build names of their own, and each name finds the release.
   */
  async add(project: string, { version, build, publication }: PublishedBuild): Promise<void> {
    const key = canonical(version);
    const act = publication === undefined ? {} : { publication };
    const set = { project, version, version_key: key, build, ...act, published_at: isoOf(this.deps.clock.now()) };
    const byName =
      build === null ? [] : [{ id: hashOf(project, `${key} ${build}`), build_key: buildKey(project, build) }];
    await this.deps.builds.bulk([
      { change: { id: hashOf(project, key) }, update: { set }, upsert: true },
      ...byName.map(({ id, build_key }) => ({ change: { id }, update: { set: { ...set, build_key } }, upsert: true })),
    ]);
  }

  async remove(project: string, version: string): Promise<void> {
    const key = canonical(version);
    await this.deps.builds.bulk([{ remove: { project, version_key: key } }, { remove: { id: hashOf(project, key) } }]);
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

/**
 * Published releases, compared with `resolved_in_build` (contract 20, release). The update service
 * calls the bug tracker, never the reverse.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import type { PublishedBuild } from '../../../ports/domain/bugs.js';
import type { ProjectPublish, PublishedVersions } from '../../../ports/domain/releases.js';
import { iterateItems } from '../../../lib/paging.js';
import { toIsoString } from '../../../lib/time.js';
import { compareVersions, isVersion, getVersionIdentity } from '../../../lib/versions.js';
import { DEPS } from '../deps.js';
import { hashWithinProject } from '../item/document-ids.js';
import { toBuildKey } from '../item/build-names.js';
import type { BuildDoc } from '../item/model.js';
import type { Clock } from '../../../ports/clock.js';
import type { Collection } from '../../../ports/store/index.js';

const PAGE_SIZE = 500;
const MAX_LATEST = 40;

export type PublishedVersion = Pick<BuildDoc, 'version' | 'published_at'>;

@injectable()
export class PublishedBuildRepository implements PublishedVersions {
  constructor(
    @inject(DEPS.builds) private readonly builds: Collection<BuildDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
  ) {}

  /** Resolves after the commit. Another spelling of a stored version replaces it. */
  async add(project: string, { version, build, publication }: PublishedBuild): Promise<void> {
    const key = getVersionIdentity(version);
    const act = publication === undefined ? {} : { publication };
    const set = { project, version, version_key: key, build, ...act };
    // The first publish counts: other platforms or repeated calls may publish it again.
    const min = { published_at: toIsoString(this.clock.now()) };
    const byName =
      build === null
        ? []
        : [{ id: hashWithinProject(project, `${key} ${build}`), build_key: toBuildKey(project, build) }];
    await this.builds.bulk([
      { change: { id: hashWithinProject(project, key) }, update: { set, min }, upsert: true },
      ...byName.map(({ id, build_key }) => ({
        change: { id },
        update: { set: { ...set, build_key }, min },
        upsert: true,
      })),
    ]);
  }

  async remove(project: string, version: string): Promise<void> {
    const key = getVersionIdentity(version);
    await this.builds.bulk([
      { remove: { project, version_key: key } },
      { remove: { id: hashWithinProject(project, key) } },
    ]);
  }

  async listMatching(project: string, builds: readonly (string | null)[]): Promise<BuildDoc[]> {
    const texts = [...new Set(builds.filter((build) => build !== null))];
    if (texts.length === 0) return [];
    const ids = texts.map((text) => hashWithinProject(project, getVersionIdentity(text)));
    const keys = texts.map((text) => toBuildKey(project, text));
    const [byVersion, byName] = await Promise.all([
      this.builds.find({ filter: { id: { in: ids } }, limit: ids.length }),
      this.builds.find({ filter: { build_key: { in: keys } }, limit: 1_000 }),
    ]);
    return [...byVersion.items, ...byName.items];
  }

  /** Lists newest first, each with its first publish time. */
  async listPublishedSince(project: string, since: string): Promise<PublishedVersion[]> {
    const filter = { project, published_at: { gte: since } };
    const page = await this.builds.find({ filter, sort: [['published_at', 'desc']], limit: PAGE_SIZE });
    const first = new Map<string, PublishedVersion>();
    for (const { version, published_at } of page.items)
      first.set(getVersionIdentity(version), { version, published_at });
    return [...first.values()].toSorted((a, b) => (a.published_at < b.published_at ? 1 : -1));
  }

  /** @param project null: all */
  async listLatestPublishes(project: string | null, since: string): Promise<ProjectPublish[]> {
    const filter = { published_at: { gte: since }, ...(project !== null && { project }) };
    const page = await this.builds.find({ filter, sort: [['published_at', 'desc']], limit: MAX_LATEST });
    const first = new Map<string, ProjectPublish>();
    for (const { project: slug, version, published_at } of page.items)
      first.set(`${slug} ${getVersionIdentity(version)}`, { project: slug, version, published_at });
    return [...first.values()];
  }

  /** Returns null if not published, or withdrawn. */
  async findPublishedVersion(project: string, version: string): Promise<PublishedVersion | null> {
    const found = await this.listMatching(project, [version]);
    const [first] = found.toSorted((a, b) => (a.published_at < b.published_at ? -1 : 1));
    return first === undefined ? null : { version: first.version, published_at: first.published_at };
  }

  /** The version that was published last before a time. */
  async findPreviousVersion(project: string, before: string): Promise<string | null> {
    const filter = { project, published_at: { lt: before } };
    const page = await this.builds.find({ filter, sort: [['published_at', 'desc']], limit: 1 });
    return page.items[0]?.version ?? null;
  }

  async isPublished(project: string, version: string): Promise<boolean> {
    return (await this.listMatching(project, [version])).length > 0;
  }

  async listPublishes(project: string, version?: string): Promise<PublishedVersion[]> {
    if (version === undefined) return this.listPublishedSince(project, '');
    const publish = await this.findPublishedVersion(project, version);
    return publish === null ? [] : [publish];
  }

  async findLatestVersion(project: string): Promise<string | null> {
    let highest: string | null = null;
    for await (const { version } of iterateItems(this.builds, { filter: { project }, limit: PAGE_SIZE })) {
      if (isVersion(version) && (highest === null || compareVersions(version, highest) > 0)) highest = version;
    }
    return highest;
  }
}

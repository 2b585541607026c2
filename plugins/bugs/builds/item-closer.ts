/**
 * A PATCH and a publish both write before they read, so neither misses the other; after a crash,
 * the job closes the item within 60 s (contract 20, release).
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { collectAll } from '../../../lib/paging.js';
import type { PublishedBuild } from '../../../ports/domain/bugs.js';
import type { ReleasePublished } from '../../../ports/domain/releases.js';
import type { DomainEvent } from '../../../ports/events.js';
import {
  toBuildKey,
  isAtOrBelow,
  getLastSeenBuild,
  findRelease,
  resolveVersion,
  type PublishedReleases,
} from '../item/build-names.js';
import { DEPS } from '../deps.js';
import { PublishedBuildRepository } from './published-builds.js';
import { ItemService } from '../store/item-service.js';
import type { ItemDoc } from '../item/model.js';
import { isTransitionAllowed } from '../item/transitions.js';
import type { Collection } from '../../../ports/store/index.js';

const BATCH_SIZE = 200;

@injectable()
export class ItemCloser {
  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(ItemService) private readonly items: ItemService,
    @inject(PublishedBuildRepository) private readonly known: PublishedBuildRepository,
  ) {}

  async closeIfPublished(item: ItemDoc): Promise<ItemDoc> {
    const build = item.resolved_in_build;
    if (build === null || item.build_key === null) return item;
    const published = await this.known.listMatching(item.project, [build]);
    const release = findRelease(build, published);
    if (release === undefined || isAtOrBelow(resolveVersion(build, published), getLastSeenBuild(item))) return item;
    return this.#close(item.id, item.build_key, release.publication);
  }

  listMatchingReleases(project: string, build: string): Promise<PublishedReleases> {
    return this.known.listMatching(project, [build]);
  }

  findLatestVersion(project: string): Promise<string | null> {
    return this.known.findLatestVersion(project);
  }

  /**
   * Stores a publish and closes its items. Returns all ids closed by this publication, including by
   * interrupted calls or the job.
   */
  async handlePublish(project: string, release: PublishedBuild): Promise<string[]> {
    await this.known.add(project, release);
    const names = release.build === null ? [release.version] : [release.version, release.build];
    const keys = [...new Set(names.map((name) => toBuildKey(project, name)))];
    const publication = release.publication ?? (await this.#findLastPublication(project, release.version));
    const closed = await this.#closeAll(keys, publication);
    if (release.publication === undefined) return closed;
    const items = await collectAll(this.itemRows, { filter: { closed_by: release.publication }, limit: BATCH_SIZE });
    return items.map(({ id }) => id);
  }

  async handlePublishEvent(event: DomainEvent<ReleasePublished>): Promise<void> {
    await this.handlePublish(event.project_slug ?? event.data.product, event.data);
  }

  async reconcile(): Promise<void> {
    const waiting = await this.itemRows.groupCount('build_key', { build_key: { gt: '' } });
    const byProject = new Map<string, string[]>();
    for (const { key } of waiting) {
      const text = String(key);
      const project = text.slice(0, text.indexOf(' '));
      byProject.set(project, [...(byProject.get(project) ?? []), text]);
    }
    for (const [project, keys] of byProject) {
      const buildOf = (key: string): string => key.slice(project.length + 1);
      const published = await this.known.listMatching(project, keys.map(buildOf));
      for (const [publication, due] of groupByPublication(keys, (key) => findRelease(buildOf(key), published)))
        await this.#closeAll(due, publication, (item) => isLeftover(item, published));
    }
  }

  async #findLastPublication(project: string, version: string): Promise<string | undefined> {
    return findRelease(version, await this.known.listMatching(project, [version]))?.publication;
  }

  async #closeAll(
    keys: readonly string[],
    publication: string | undefined,
    due: (item: ItemDoc) => boolean = () => true,
  ): Promise<string[]> {
    const closed: string[] = [];
    let next: string | null = null;
    for (;;) {
      const filter = { build_key: { in: keys } };
      const page = await this.itemRows.find({ filter, sort: [['id', 'asc']], limit: BATCH_SIZE, after: next });
      next = page.next;
      const after = await Promise.all(
        page.items.filter(due).map((item) => this.#close(item.id, item.build_key ?? '', publication)),
      );
      closed.push(...after.filter(({ status }) => status === 'closed').map(({ id }) => id));
      if (next === null) return closed.toSorted();
    }
  }

  #close(id: string, key: string, publication: string | undefined): Promise<ItemDoc> {
    return this.items.change(id, 'release', (item, change) => {
      if (item.build_key !== key || !isTransitionAllowed(item.status, 'closed', 'publish')) return;
      change.markFixed('closed', { why: 'release', build: item.resolved_in_build }).assign({ closed_by: publication });
    });
  }
}

/** Returns whether the publish should have closed the item: no occurrence in this version since. */
function isLeftover(item: ItemDoc, published: PublishedReleases): boolean {
  const { resolved_in_build: build } = item;
  return build !== null && !isAtOrBelow(resolveVersion(build, published), getLastSeenBuild(item));
}

function groupByPublication(
  keys: readonly string[],
  release: (key: string) => PublishedReleases[number] | undefined,
): Map<string | undefined, string[]> {
  const due = new Map<string | undefined, string[]>();
  for (const key of keys) {
    const found = release(key);
    if (found !== undefined) due.set(found.publication, [...(due.get(found.publication) ?? []), key]);
  }
  return due;
}

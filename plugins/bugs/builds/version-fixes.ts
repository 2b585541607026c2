/** Items that a version fixes (contract 20, release), for the release's page. */
import { inject, injectable } from '../../../kernel/contract/index.js';
import type { VersionFixes, VersionItem } from '../../../ports/domain/bugs.js';
import type { Collection } from '../../../ports/store/index.js';
import { findReadable } from '../../../ports/store/skipped-documents.js';
import { DEPS } from '../deps.js';
import { toBuildKey } from '../item/build-names.js';
import type { ItemDoc } from '../item/model.js';
import { PublishedBuildRepository } from './published-builds.js';

const MAX_CLOSED = 500;

@injectable()
export class VersionFixReader implements VersionFixes {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(PublishedBuildRepository) private readonly published: PublishedBuildRepository,
  ) {}

  async list(project: string, version: string, limit: number): Promise<{ items: VersionItem[]; total: number }> {
    const items = this.items;
    const builds = await this.published.listMatching(project, [version]);
    const names = [version, ...builds.flatMap(({ build }) => build ?? [])];
    const keys = [...new Set(names.map((name) => toBuildKey(project, name)))];
    const filter = { fix_key: { in: keys }, status: { ne: 'duplicate' } };
    // Items closed by an earlier version of AOS have no fix key.
    const older = {
      closed_by: { in: builds.flatMap(({ publication }) => publication ?? []) },
      fix_key: { exists: false },
    };
    const [fixed, closed, total] = await Promise.all([
      findReadable(items, { filter, limit }),
      older.closed_by.in.length === 0 ? { items: [] } : findReadable(items, { filter: older, limit: MAX_CLOSED }),
      items.count(filter),
    ]);
    const before = closed.items.filter(
      ({ resolved_in_build: build }) => build !== null && keys.includes(toBuildKey(project, build)),
    );
    return { items: toVersionItems([...fixed.items, ...before], limit), total: total + before.length };
  }
}

/** Most events first. */
export const toVersionItems = (docs: readonly ItemDoc[], limit: number): VersionItem[] =>
  docs
    .toSorted((a, b) => b.hit_count - a.hit_count)
    .slice(0, limit)
    .map(({ id, ref, title, type, status, severity, hit_count, people, last_seen_at }) => ({
      id,
      ref,
      title,
      type,
      status,
      severity,
      hit_count,
      people: people ?? null,
      last_seen_at,
    }));

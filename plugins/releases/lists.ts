import { inject, injectable, type Principal, type Collection } from '../../kernel/contract/index.js';
import { requireProject } from '../../kernel/errors.js';
import type { Filter } from '../../ports/store/index.js';
import { DEPS } from './deps.js';
import type { Platform } from '../../lib/formats/platform.js';
import { ReleaseTimestamps } from './release-timestamps.js';
import { toReleaseView, type ReleaseView } from './view.js';
import { findReadable, pickWarnings, type ListWarnings } from '../../ports/store/skipped-documents.js';
import type { ReleaseDoc } from './model.js';

export interface ReleaseQuery {
  product?: string;
  channel?: string;
  platform?: Platform;
  updated_since?: string;
  limit: number;
  cursor?: string;
  include_total: boolean;
}

export interface ReleasePage extends ListWarnings {
  items: ReleaseView[];
  next_cursor: string | null;
  has_more: boolean;
  total?: number;
  server_time?: string;
}

@injectable()
export class ReleaseListService {
  constructor(
    @inject(DEPS.releases) private readonly releases: Collection<ReleaseDoc>,
    @inject(ReleaseTimestamps) private readonly stamps: ReleaseTimestamps,
  ) {}

  /**
   * Lists newest first; with `updated_since` in the order of changes.
   * @throws ServiceError insufficient_scope; InvalidCursor
   */
  async listPage(principal: Principal, query: ReleaseQuery): Promise<ReleasePage> {
    const { channel, platform, updated_since: since, limit, cursor = null } = query;
    const product = checkCanRead(principal, query.product);
    const updated_at = since === undefined ? undefined : { gte: this.stamps.resolveCursor(since) };
    const filter: Filter = { product, channel, platform, updated_at };
    const sort = since === undefined ? ([['published_at', 'desc']] as const) : ([['updated_at', 'asc']] as const);
    const server_time = this.stamps.getSafeCursor();
    const page = await findReadable(this.releases, { filter, sort, limit, after: cursor });
    return {
      items: page.items.map(toReleaseView),
      next_cursor: page.next,
      has_more: page.next !== null,
      ...(query.include_total ? { total: await this.releases.count(filter) } : {}),
      ...(since === undefined ? {} : { server_time }),
      ...pickWarnings(page),
    };
  }
}

/**
 * A token bound to a project sees only that project.
 * @throws ServiceError insufficient_scope
 */
export function checkCanRead(principal: Principal, product: string | undefined): string | undefined {
  const own = principal.kind === 'token' ? principal.project : null;
  if (product !== undefined) requireProject(own, product);
  return own ?? product;
}

export function checkCanChange(principal: Principal, product: string): void {
  checkCanRead(principal, product);
}

import { toIsoString } from '../../../lib/time.js';
import type { FindQuery, Page } from '../../../ports/store/index.js';
import type { WatchdogDeps } from '../deps.js';
import type { MonitorDoc } from '../model/documents.js';

export interface DueQuery extends Required<Pick<FindQuery, 'damaged' | 'limit'>> {
  /** In ms; earlier check times are due. */
  now: number;
  from: string | null;
}

export async function* readDueMonitors(
  monitors: WatchdogDeps['monitors'],
  { now, from, limit, damaged }: DueQuery,
): AsyncGenerator<Page<MonitorDoc>, void, undefined> {
  const filter = { next_check_at: { gt: '', lt: toIsoString(now) } };
  const read = (after: string | null): Promise<Page<MonitorDoc>> => {
    const page = monitors.find({ filter, sort: [['next_check_at', 'asc']], limit, after, damaged });
    // Thrown where the page is awaited; must not count as unhandled here.
    page.catch(() => undefined);
    return page;
  };
  for (let coming: Promise<Page<MonitorDoc>> | null = read(from); coming !== null;) {
    const page: Page<MonitorDoc> = await coming;
    coming = page.next === null ? null : read(page.next);
    yield page;
  }
}

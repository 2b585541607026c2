/** What a run of the evaluator looks at. */
import { isoOf } from '../../../lib/time.js';
import type { Find, Page } from '../../../ports/store.js';
import type { WatchdogDeps } from '../deps.js';
import type { MonitorDoc } from '../model/documents.js';

export interface DueQuery extends Required<Pick<Find, 'damaged' | 'limit'>> {
  /** In ms; due is what had to be looked at before. */
  now: number;
  /** Cursor of the first page. */
  from: string | null;
}

/** In pages; the store reads one while the one before it is looked at. A damaged monitor holds up no other. */
export async function* readDueMonitors(
  monitors: WatchdogDeps['monitors'],
  { now, from, limit, damaged }: DueQuery,
): AsyncGenerator<Page<MonitorDoc>, void, undefined> {
  const filter = { next_check_at: { gt: '', lt: isoOf(now) } };
  const read = (after: string | null): Promise<Page<MonitorDoc>> => {
    const page = monitors.find({ filter, sort: [['next_check_at', 'asc']], limit, after, damaged });
    // A failure is thrown where the page is awaited; where the run has failed before that, it has its error already.
    page.catch(() => undefined);
    return page;
  };
  for (let coming: Promise<Page<MonitorDoc>> | null = read(from); coming !== null;) {
    const page: Page<MonitorDoc> = await coming;
    coming = page.next === null ? null : read(page.next);
    yield page;
  }
}

/**
 * What lists, claims and reports cost over few items and over many: the ratio shows whether they walk what they should look
 * up. Each size has a service of its own, filled by seed.ts; calls go one after the other on one connection.
 */
import { TestService } from '../support/service.js';
import { median } from './generator.js';
import { seededReport, seedItems } from './seed.js';

const PROJECTS = Array.from({ length: 5 }, (_, i) => `shop${i}`);
const CALLS = 60;
const BUGS = '/api/bugtracker/v1/bugs';

/** Name → milliseconds of one call, the median. */
type Figures = Map<string, number>;

const LISTS: readonly (readonly [name: string, query: string])[] = [
  ['list, newest first', ''],
  ['list, project and status', '?project=shop3&status=open'],
  ['list, project and a rare status', '?project=shop3&status=needs_info'],
  ['list, by severity', '?sort=severity'],
  ['list, project, by severity', '?project=shop3&sort=severity'],
  ['list, changes of a project', `?project=shop3&updated_since=${new Date(Date.now() - 3_600_000).toISOString()}`],
  // What nearly nothing matches, and what much does.
  ['list, q of one item', '?q=%22module%204711%22'],
  ['list, q of two words', '?q=Orders%20failure4711'],
  ['list, q of nothing', '?q=nowhere'],
  ['list, q of two letters, nothing', '?q=zq'],
  ['list, q of all', '?q=could%20not%20be'],
  ['list, q and status, by hits', '?q=module4711&status=open&status=closed&sort=hit_count'],
  ['list, a tag of nothing', '?tag=none'],
  ['list, a tag of all', '?tag=shop'],
  ['list, environment of nothing', '?environment=none&sort=created_at'],
  ['list, regressions, of which are none', '?regression=true'],
  ['list, a rare status, by creation', '?status=needs_info&sort=created_at'],
  ['list, a rare status, by hits', '?status=needs_info&sort=hit_count'],
  ['list, a rare status, by change', '?status=needs_info&sort=updated_at&order=asc'],
  ['list, project and rare status, hits', '?project=shop3&status=needs_info&sort=hit_count'],
];
const CLAIMS: readonly (readonly [name: string, query: string])[] = [
  ['action=next', ''],
  ['action=next, project', '&project=shop3'],
  ['action=next, low severity', '&severity=low'],
  ['action=next, a tag of nothing', '&tag=none'],
  ['action=next, q of nothing', '&q=nowhere'],
];

async function measured(items: number, unlimited: Record<string, string>): Promise<Figures> {
  const service = await TestService.started({ ...unlimited, SVC_BUGS__MAX_CLAIMS: '1000000' });
  try {
    for (const slug of PROJECTS) await service.project(slug);
    const token = await service.token('bugtracker:report,bugtracker:manage');
    await service.end();
    seedItems(service.dataDir, PROJECTS, items);
    await service.start();
    const figures: Figures = new Map();
    const call = async (name: string, method: string, path: string, bodyOf: (i: number) => unknown): Promise<void> => {
      const times: number[] = [];
      for (let i = 0; i < CALLS; i++) {
        const began = performance.now();
        const { status } = await service.request(method, path, token, bodyOf(i));
        times.push(performance.now() - began);
        if (status > 201) throw new Error(`${method} ${path} answered ${status}`);
      }
      // The first calls read pages from the disk and compile statements.
      figures.set(name, median(times.slice(CALLS / 3)));
    };
    const none = (): undefined => undefined;
    for (const [name, query] of LISTS) await call(name, 'GET', BUGS + query, none);
    for (const [name, query] of CLAIMS) await call(name, 'POST', `${BUGS}?action=next&agent=bench${query}`, none);
    await call('report of a known group', 'POST', '/api/errors/v1/report', (i) => errorOf((i * 104_729) % items));
    return figures;
  } finally {
    await service.dispose();
  }
}

/** Of every ten items one is no error. */
function errorOf(place: number): object {
  const i = place % 10 === 9 ? place - 1 : place;
  const seeded = seededReport(i, PROJECTS[i % PROJECTS.length] as string);
  const { project, error_level, error_message, exception_class, file_path, stack_trace } = seeded;
  return { project, error_level, error_message, exception_class, file: file_path, stack_trace };
}

/** @param sizes numbers of items, the smallest first */
export async function lists(
  say: (text: string) => void,
  sizes: readonly number[],
  unlimited: Record<string, string>,
): Promise<void> {
  const all: Figures[] = [];
  say(`\nOne call over ${sizes.join(', ')} items: median of ${CALLS} in milliseconds, and the last over the first`);
  for (const size of sizes) all.push(await measured(size, unlimited));
  for (const name of all[0]?.keys() ?? []) {
    const times = all.map((figures) => figures.get(name) ?? NaN);
    const ratio = (times.at(-1) ?? NaN) / (times[0] ?? NaN);
    say(
      `  ${name.padEnd(34)} ${times.map((ms) => ms.toFixed(2).padStart(8)).join(' ')}   ${ratio.toFixed(2).padStart(6)}`,
    );
  }
}

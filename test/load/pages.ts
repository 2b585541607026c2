/**
 * How long pages take with a full store, every one that is mounted: seen from outside, one call after the other on one connection, so that what is
 * measured is the service and not a queue before it. The figure of issue 17 is a p99 below 50 ms with 100,000 items. Beside
 * it stands the processor time of one call over all threads, which a busy machine distorts least.
 */
import { everyPage } from '../pages/every-page.js';
import { WebSession } from '../pages/web-session.js';
import { ADMIN, TestService } from '../support/service.js';
import { cpuMs } from './measure.js';
import { PageClient } from './page-client.js';
import { seedItems } from './seed.js';
import { seedMonitors } from './seed-monitors.js';
import { seedTrails } from './seed-trails.js';

const PROJECTS = Array.from({ length: 5 }, (_, i) => `shop${i}`);
const CALLS = 200;
const WARM_UP = 20;
const LIMIT_MS = 50;

const lastDay = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

/** Lists with the filters that a person sets, and pages of one thing; all others are taken from what is mounted. */
const PAGES = [
  '/',
  '/bugs',
  '/bugs?status=open&project=shop3',
  '/bugs?sort=severity',
  '/bugs?status=open&severity=critical',
  '/bugs/shop3-17',
  '/errors',
  '/errors?project=shop3',
  '/ignore-rules',
  '/monitors',
  '/monitors?state=down',
  '/monitors?project=shop3',
  '/monitors?parent=host-000000',
  '/monitors?alarm=open',
  '/monitors/host-000001',
  '/hierarchy',
  '/releases',
  '/releases?project=shop3',
  '/licenses',
  '/licenses?project=shop3',
  '/license-approvals',
  '/projects',
  '/users',
  '/tokens',
  '/webhooks',
  '/webhooks/events',
  '/notifications',
  '/migrations',
  '/system',
  '/audit',
  '/audit?actor=admin',
  '/audit?actor=nobody',
  '/audit?action=webhook.changed',
  '/search?q=shop3',
  '/bugs/shop3-17/alike',
  '/bugs/shop3-17/split',
  '/bugs/shop3-17/request',
  '/bugs/shop3-17/trace.txt',
  '/monitors/host-000001/edit',
  '/projects/shop3',
  '/projects/shop3/edit',
  '/projects/shop3/brand',
  '/license?product=shop3',
  '/docs/operations',
  '/docs/decisions/README',
  '/docs/spec/README',
];

/** Leads elsewhere, or answers no page. */
const NO_PAGE = new Set([
  '/logout',
  '/account/totp',
  '/bugs/live',
  '/errors/live',
  '/search/live',
  '/system/audit',
  '/login',
]);

/** Of one page, in milliseconds. */
interface PageFigure {
  path: string;
  p50: number;
  p95: number;
  p99: number;
  /** User and system time of one call, all threads; NaN where the system does not tell. */
  cpu: number;
  kilobytes: number;
}

async function timed(service: TestService, session: WebSession, path: string): Promise<PageFigure> {
  const { text } = await session.get(path);
  const client = new PageClient(service.url, session.cookie);
  const pid = service.child?.pid ?? 0;
  const times: number[] = [];
  let cpu = NaN;
  for (let i = 0; i < CALLS + WARM_UP; i++) {
    if (i === WARM_UP) cpu = await cpuMs(pid).catch(() => NaN);
    const began = performance.now();
    const status = await client.ask(path);
    if (i >= WARM_UP) times.push(performance.now() - began);
    if (status !== 200) throw new Error(`${path} answered ${status}`);
  }
  client.close();
  const used = (await cpuMs(pid).catch(() => NaN)) - cpu;
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return {
    path,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    cpu: used / CALLS,
    kilobytes: Math.round(text.length / 1024),
  };
}

const lineOf = ({ path, p50, p95, p99, cpu, kilobytes }: PageFigure): string =>
  `  ${path.padEnd(40)} ${[p50, p95, p99, cpu].map((ms) => ms.toFixed(1).padStart(7)).join(' ')} ${String(kilobytes).padStart(6)}` +
  (p99 > LIMIT_MS ? `  p99 over ${LIMIT_MS}` : '');

/**
 * @param items and as many monitors as a tenth of them
 * @param only parts of paths; empty: all pages
 */
export async function pageTimes(
  say: (text: string) => void,
  items: number,
  unlimited: Record<string, string>,
  only: readonly string[] = [],
): Promise<void> {
  const monitors = Math.round(items / 10);
  const service = await TestService.started(unlimited);
  try {
    for (const slug of PROJECTS) await service.project(slug);
    await service.end();
    seedItems(service.dataDir, PROJECTS, items);
    seedMonitors(service.dataDir, PROJECTS, monitors);
    seedTrails(service.dataDir, PROJECTS, items);
    await service.start();
    const session = new WebSession(service.url);
    if ((await session.signIn(ADMIN.username, ADMIN.password)) !== 303) throw new Error('no login');
    say(`\nPages with ${items} items and ${monitors} monitors, ${CALLS} calls each, by an administrator: milliseconds`);
    say(`  ${'page'.padEnd(40)}     p50     p95     p99     CPU     KB`);
    const mounted = (await everyPage()).filter(({ method, path }) => method === 'GET' && !NO_PAGE.has(path));
    const plain = mounted.map(({ path }) => path).filter((path) => !path.includes('{'));
    const figures: PageFigure[] = [];
    for (const path of new Set([...PAGES, `/bugs?first_from=${lastDay}`, ...plain])) {
      if (only.length > 0 && !only.some((part) => path.includes(part))) continue;
      const figure = await timed(service, session, path);
      figures.push(figure);
      say(lineOf(figure));
    }
    const worst = figures.toSorted((a, b) => b.p99 - a.p99)[0];
    const over = figures.filter(({ p99 }) => p99 > LIMIT_MS).length;
    say(
      `  ${figures.length} pages, ${over} with a p99 over ${LIMIT_MS} ms; the highest: ${worst?.path} ${worst?.p99.toFixed(1)}`,
    );
    const covers = (spec: string): boolean => {
      const shape = new RegExp(`^${spec.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?.*)?$`);
      return figures.some(({ path }) => shape.test(path));
    };
    if (only.length === 0)
      say(
        `  not asked for, as the seeds have none of it: ${mounted
          .map(({ path }) => path)
          .filter((path) => !covers(path))
          .join(' ')}`,
      );
  } finally {
    await service.dispose();
  }
}

/**
 * How long the list pages take with a full store: seen from outside, one call after the other on one connection, so that what is
 * measured is the service and not a queue before it. The figure of issue 17 is a p99 below 50 ms with 100,000 items.
 */
import { WebSession } from '../pages/web-session.js';
import { ADMIN, TestService } from '../support/service.js';
import { seedItems } from './seed.js';
import { seedMonitors } from './seed-monitors.js';

const PROJECTS = Array.from({ length: 5 }, (_, i) => `shop${i}`);
const CALLS = 200;
const WARM_UP = 20;
const LIMIT_MS = 50;

const PAGES = [
  '/',
  '/bugs',
  '/bugs?status=open&project=shop3',
  '/bugs?sort=severity',
  '/bugs?q=module4711',
  '/errors',
  '/ignore-rules',
  '/monitors',
  '/monitors?state=down',
  '/hierarchy',
  '/releases',
  '/licenses',
  '/license-approvals',
  '/projects',
  '/users',
  '/tokens',
  '/webhooks',
  '/webhooks/events',
  '/notifications',
  '/system',
];

/** @param items and as many monitors as a tenth of them */
export async function pageTimes(
  say: (text: string) => void,
  items: number,
  unlimited: Record<string, string>,
): Promise<void> {
  const monitors = Math.round(items / 10);
  const service = await TestService.started(unlimited);
  try {
    for (const slug of PROJECTS) await service.project(slug);
    await service.end();
    seedItems(service.dataDir, PROJECTS, items);
    seedMonitors(service.dataDir, PROJECTS, monitors);
    await service.start();
    const session = new WebSession(service.url);
    if ((await session.signIn(ADMIN.username, ADMIN.password)) !== 303) throw new Error('no login');
    say(
      `\nPages with ${items} items and ${monitors} monitors, ${CALLS} calls each: milliseconds, and kilobytes before compression`,
    );
    for (const path of PAGES) {
      const times: number[] = [];
      let bytes = 0;
      for (let i = 0; i < CALLS + WARM_UP; i++) {
        const began = performance.now();
        const { status, text } = await session.get(path);
        if (i >= WARM_UP) times.push(performance.now() - began);
        if (status !== 200) throw new Error(`${path} answered ${status}`);
        bytes = text.length;
      }
      const sorted = times.toSorted((a, b) => a - b);
      const at = (share: number): number =>
        sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
      const [p50, p99] = [at(0.5), at(0.99)];
      const over = p99 > LIMIT_MS ? `  over ${LIMIT_MS}` : '';
      say(
        `  ${path.padEnd(34)} p50 ${p50.toFixed(1).padStart(6)}  p99 ${p99.toFixed(1).padStart(6)}  ${String(Math.round(bytes / 1024)).padStart(4)} KB${over}`,
      );
    }
  } finally {
    await service.dispose();
  }
}

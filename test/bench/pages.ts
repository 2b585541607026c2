/** Measures how long each page takes on a full store. The pages are found by their links. */
import { buildPackage } from '../../clients/demo/package-file.js';
import { WebSession } from '../pages/web-session.js';
import { ADMIN_ACCOUNT } from '../support/service.js';
import { measure, UNLIMITED } from './measure.js';
import { startService, type Server } from './servers.js';
import { formatCost, type BenchOptions } from './throughput.js';
import { createHeartbeats, createNewGroupSource } from './workloads.js';

const PROJECTS = 5;
const VERSIONS = 20;
/** Few, because bcrypt hashes their keys in the background first. */
const LICENSES = 20;
const GZIP = { 'content-type': 'application/gzip' };
const CALLS = 200;
const EXPORT_CALLS = 10;
/** Typed by people: no link leads to them. */
const SEARCHES = ['/search?q=load', '/issues?q=load', '/bugs?status=open&severity=critical&sort=severity'];
const SKIPPED_PATHS = /^\/(?:api|assets|logout|login|oidc|health|metrics)\b|\.(?:js|css|svg|png|ico|json|webmanifest)$/;

/** Links that differ in their values only lead to the same page. */
function getShape(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://localhost');
  const segments = pathname.replace(/^\/docs\/.*/, '/docs/:page').split('/');
  const names = segments.map((segment) => (/\d/.test(segment) ? ':id' : segment));
  return `${names.join('/')}?${[...searchParams.keys()].toSorted().join('&')}`;
}

const listLinks = (html: string): string[] =>
  [...html.matchAll(/<a\b[^>]*?\shref="(\/[^"]*)/g)].map(([, path = '']) =>
    path.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=').replace(/#.*/, ''),
  );

/** Returns one link of each page, starting at Home. */
async function findPages(session: WebSession): Promise<string[]> {
  const found = new Map(['/', ...SEARCHES].map((path) => [getShape(path), path]));
  const pages: string[] = [];
  for (const path of found.values()) {
    const { status, text } = await session.get(path);
    if (status !== 200) continue;
    pages.push(path);
    // Links of filtered lists only combine filters.
    if (path.includes('?')) continue;
    for (const link of listLinks(text))
      if (!SKIPPED_PATHS.test(link) && !found.has(getShape(link))) found.set(getShape(link), link);
  }
  return pages;
}

/** Fills the store with items in five projects, and a tenth as many monitors of separate hosts. */
async function fill({ url, pids, run }: Server, items: number): Promise<void> {
  for (let i = 0; i < PROJECTS; i++) await run?.(['project', 'create', `bench${i}`]);
  const scopes = 'bugtracker:report,watchdog:ping,license:manage,updateservice:publish';
  const token = await run?.(['token', 'create', '--name', 'bench', '--scopes', scopes]);
  const headers = { authorization: `Bearer ${String(token?.['token'])}` };
  const post = { method: 'POST' as const, headers };
  const createReport = createNewGroupSource();
  let count = 0;
  const createBody = (): string =>
    createReport().replace('"project":"bench"', `"project":"bench${count++ % PROJECTS}"`);
  const reports = { ...post, name: 'reports', path: '/api/errors/v1/report', createBody, amount: items };
  await measure(url, pids, reports, 0);
  const bodies = createHeartbeats(items / 10);
  const pings = { ...post, name: 'heartbeats', path: '/api/watchdog/v1/ping', bodies, amount: bodies.length };
  await measure(url, pids, pings, 0);
  for (let i = 0; i < VERSIONS; i++) {
    const path = `/api/updateservice/v1/publish?product=bench${i % PROJECTS}&version=1.${i}.0`;
    const body = new Uint8Array(buildPackage('a.txt', String(i)));
    const { ok, status } = await fetch(url + path, { ...post, headers: { ...headers, ...GZIP }, body });
    if (!ok) throw new Error(`${path} → ${status}`);
  }
  const order = JSON.stringify({ product: 'bench0', count: LICENSES, max_activations: 5 });
  const licenses = { ...post, name: 'licenses', path: '/api/license/v1/licenses', bodies: [order], amount: 1 };
  await measure(url, pids, { ...licenses, connections: 1 }, 0);
}

/** Calls each page, one after the other, and prints its times. */
export async function measurePages({ print }: BenchOptions, items: number): Promise<void> {
  const server = await startService(UNLIMITED);
  const { url, pids } = server;
  try {
    await fill(server, items);
    const session = new WebSession(url);
    if ((await session.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password)) !== 303)
      throw new Error('the sign-in failed');
    const pages = await findPages(session);
    const headers = { cookie: session.cookie, accept: 'text/html' };
    print(`\n${pages.length} pages with ${items} items, ${CALLS} calls each, exports ${EXPORT_CALLS}`);
    for (const path of pages) {
      const work = { name: path, method: 'GET' as const, path, headers, connections: 1 };
      const amount = path.includes('csv') ? EXPORT_CALLS : CALLS;
      await measure(url, pids, { ...work, amount: amount / 10 }, 0);
      print(formatCost(path, await measure(url, pids, { ...work, amount }, 0)));
    }
  } finally {
    await server.stop();
  }
}

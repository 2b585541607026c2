/** Measures how long pages take on a full store. */
import { WebSession } from '../pages/web-session.js';
import { ADMIN_ACCOUNT } from '../support/service.js';
import { measure, UNLIMITED } from './measure.js';
import { startService } from './servers.js';
import { formatCost, type BenchOptions } from './throughput.js';
import { createHeartbeats, createNewGroupSource } from './workloads.js';

const PAGES =
  '/ /bugs /bugs?status=open&severity=critical /bugs?sort=severity /bugs/bench-17 /errors?project=bench /search?q=load '.concat(
    '/monitors /monitors?state=down /hierarchy /projects/bench /releases /licenses /audit /system',
  );
const CALLS = 200;
const WARM_UP = 20;

/** @param items in the store, and a tenth as many monitors */
export async function measurePages({ print }: BenchOptions, items: number): Promise<void> {
  const server = await startService(UNLIMITED);
  try {
    await server.run?.(['project', 'create', 'bench']);
    const scopes = 'bugtracker:report,watchdog:ping';
    const token = await server.run?.(['token', 'create', '--name', 'bench', '--scopes', scopes]);
    const headers = { authorization: `Bearer ${String(token?.['token'])}` };
    const post = { method: 'POST' as const, headers };
    const createBody = createNewGroupSource();
    const reports = { ...post, name: 'reports', path: '/api/errors/v1/report', createBody, amount: items };
    await measure(server.url, server.pids, reports, 0);
    const bodies = createHeartbeats(items / 10);
    const pings = { ...post, name: 'heartbeats', path: '/api/watchdog/v1/ping', bodies, amount: bodies.length };
    await measure(server.url, server.pids, pings, 0);
    const session = new WebSession(server.url);
    if ((await session.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password)) !== 303)
      throw new Error('the sign-in failed');
    print(`\nPages with ${items} items and ${bodies.length} monitors, ${CALLS} calls each, one after the other`);
    for (const path of PAGES.split(' ')) {
      const headers = { cookie: session.cookie, accept: 'text/html' };
      const work = { name: path, method: 'GET' as const, path, headers, connections: 1 };
      await measure(server.url, server.pids, { ...work, amount: WARM_UP }, 0);
      print(formatCost(path, await measure(server.url, server.pids, { ...work, amount: CALLS }, 0)));
    }
  } finally {
    await server.stop();
  }
}

/**
 * `npm run bench`: figures as ratios, side by side in one run, because machines are noisy and absolute times lie.
 *
 *  1. Error intake on the embedded store at `full` durability (200 groups; events of 4 KB and of 50 KB, Sentry envelopes of
 *     4 KB) against a bare hapi POST with joi of the same body that stores nothing; 16 connections, the two in turn. Then
 *     what finding the group costs of it.
 *  2. Heartbeats, pages of fifty items and `action=next` beside bare routes.
 *  3. Lists, claims and reports over few items and over many (`BENCH_ITEMS`, lists.ts).
 *
 * What stands beside a bare route goes into a report with a history (report.ts). The figures of webhooks, of downloads and of releases are in files of their own and run when they are named.
 *
 * The load comes from this process; each server is a process of its own on loopback.
 */
import { groupingOf, type GroupingInput } from '../../plugins/bugs/grouping/key.js';
import { TestService } from '../support/service.js';
import { agentFigures } from './agent/figures.js';
import { backupFigures } from './backup.js';
import { beside, line, type Figure } from './beside.js';
import type { load } from './generator.js';
import { bareServer } from './measure.js';
import { downloads } from './downloads.js';
import { memoryFigures } from './memory.js';
import { loopFigures } from './loop.js';
import { licenseFigures } from './licenses.js';
import { lists } from './lists.js';
import { envelopeSource } from './sentry-envelope.js';
import { pageTimes } from './pages.js';
import { evaluation, heartbeats, history } from './watchdog.js';
import { releases } from './releases.js';
import { peers } from './peers/peers.js';
import { publishFigures } from './publishes.js';
import { setupFigures } from './setups.js';
import { statusPage } from './status-page.js';
import { seedItems } from './seed.js';
import { keep } from './report.js';
import { webhookFigures } from './webhooks.js';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5);
const WARM_UP = Number(process.env['BENCH_WARM_UP'] ?? 8);
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** One report per group, of about `bytes`: a message with changing values, a stack, a little context. */
export function errorBodies(project: string, groups: number, bytes: number): string[] {
  return Array.from({ length: groups }, (_, g) => {
    const report = {
      project,
      error_level: 'error',
      error_message: `Order 'A-${1000 + g}' of customer 4711${g} could not be loaded`,
      exception_class: `Shop.Orders.Failure${g}`,
      file: `src/orders/module${g}.ts`,
      line: 10 + g,
      stack_trace: '',
      environment: 'production',
      app_version: '1.4.2',
      host: 'web-1',
      tags: ['shop', 'eu'],
      context: { order: 1000 + g, region: 'eu-1' },
    };
    const frame = `    at load${g} (/srv/app/src/orders/module${g}.ts:${g + 1}:13)\n`;
    const room = Math.max(1, Math.floor((bytes - JSON.stringify(report).length) / (frame.length + 1)));
    report.stack_trace = `Failure: could not be loaded\n${frame.repeat(room)}`;
    return JSON.stringify(report);
  });
}

const UNLIMITED = Object.fromEntries(
  ['intake_per_minute', 'intake_burst', 'api_per_minute', 'public_per_minute'].map((key) => [
    `SVC_LIMITS__${key.toUpperCase()}`,
    '0',
  ]),
);

type Target = Omit<Parameters<typeof load>[0], 'url' | 'seconds'>;

/** What is sent, to the yardstick and to us; the bodies are the same. */
interface Kind {
  name: string;
  bytes: number;
  theirs: Target;
  ours: (token: string) => Target;
}

const GROUPS = 200;
/** Items that wait to be claimed. */
const CLAIMS_PER_SECOND = 6_000;

function events(name: string, size: number): Kind {
  const bodies = errorBodies('bench', GROUPS, size);
  const bytes = Math.round(bodies.reduce((sum, body) => sum + body.length, 0) / bodies.length);
  return {
    name,
    bytes,
    theirs: { method: 'POST', paths: ['/report'], bodies },
    ours: (token) => ({
      method: 'POST',
      paths: ['/api/errors/v1/report'],
      bodies,
      headers: { authorization: `Bearer ${token}` },
    }),
  };
}

function envelopes(name: string, size: number): Kind {
  const source = envelopeSource(GROUPS, size);
  const target: Target = { method: 'POST', paths: ['/envelope'], source, type: 'application/x-sentry-envelope' };
  return {
    name,
    bytes: source().length,
    theirs: target,
    // The first project has the number 1.
    ours: (token) => ({
      ...target,
      paths: ['/api/1/envelope/'],
      headers: { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${token}` },
    }),
  };
}

/** Every report another group: a class and a message of their own, in letters, which no mask takes for a value. */
function newGroups(): Kind {
  let n = 0;
  const [template = ''] = errorBodies('bench', 1, 4096);
  const source = (): string => {
    const own = (n++).toString(26).replaceAll(/./g, (digit) => String.fromCharCode(97 + Number.parseInt(digit, 26)));
    return template.replaceAll('Failure0', `Failure${own}`).replaceAll('could not', `${own} could not`);
  };
  const target: Target = { method: 'POST', paths: ['/report'], source };
  return {
    name: '4 KB, every one a new group',
    bytes: source().length,
    theirs: target,
    ours: (token) => ({
      ...target,
      paths: ['/api/errors/v1/report'],
      headers: { authorization: `Bearer ${token}` },
    }),
  };
}

async function intake(): Promise<void> {
  for (const kind of [
    events('4 KB events', 4096),
    events('50 KB events', 50 * 1024),
    envelopes('4 KB Sentry envelopes', 4096),
    newGroups(),
  ]) {
    await intakeOf(kind);
  }
  grouping();
}

/** Orders of a list: callers who ask alike share one reading, and these ask for different pages. */
const ORDERS = ['last_seen_at', 'created_at', 'updated_at', 'hit_count', 'severity'].flatMap((sort) => [
  `sort=${sort}&order=asc`,
  `sort=${sort}&order=desc`,
]);

/** Pages of fifty items, and `action=next`, beside a bare route that answers the same from memory. */
async function reads(): Promise<void> {
  const bare = await bareServer('./bare.js');
  const service = await TestService.started({ ...UNLIMITED, SVC_BUGS__MAX_CLAIMS: '1000000' });
  try {
    await service.project('bench');
    const token = await service.token('bugtracker:report,bugtracker:read,bugtracker:manage');
    await service.end();
    // More than are claimed, which is looked at below: what finds nothing is cheap.
    seedItems(service.dataDir, ['bench'], CLAIMS_PER_SECOND * (WARM_UP + ROUNDS * SECONDS), { open: true });
    await service.start();
    say(`\nReads, 16 connections where nothing else is said, ${ROUNDS} rounds of ${SECONDS} s each, in turn`);
    const headers = { authorization: `Bearer ${token}` };
    const list = '/api/bugtracker/v1/bugs';
    for (const [name, method, paths, connections] of [
      ['a page of 50 items', 'GET', [list], 16],
      ['the same, 32 connections', 'GET', [list], 32],
      [`${ORDERS.length} pages, 32 connections`, 'GET', ORDERS.map((order) => `${list}?${order}`), 32],
      ['action=next', 'POST', [`${list}?action=next&agent=bench&lease_seconds=60`], 16],
    ] as const) {
      const path = paths[0] ?? list;
      const { body } = await service.request(method, path, token);
      const kept = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      await fetch(`${bare.url}/kept`, kept);
      const ours = { method, paths: [...paths], headers, connections };
      await compared(name, service, bare, { method, paths: ['/kept'], connections }, ours);
      const { body: last } = await service.request(method, path, token);
      if ((last as { item?: unknown }).item === null) throw new Error('all items are claimed: the figure is too good');
    }
  } finally {
    await service.dispose();
    bare.stop();
  }
}

const figures: Figure[] = [];

/** One figure of the report. */
async function compared(
  name: string,
  service: TestService,
  bare: { url: string; pid: number },
  theirs: Target,
  ours: Target,
): Promise<void> {
  const figure = await beside({
    name,
    ours: { ...ours, url: service.url },
    bare: { ...theirs, url: bare.url },
    pids: { ours: service.child?.pid ?? 0, bare: bare.pid },
    rounds: ROUNDS,
    seconds: SECONDS,
    warmUp: WARM_UP,
  });
  say(line(figure));
  figures.push(figure);
}

async function intakeOf({ name, bytes, theirs, ours }: Kind): Promise<void> {
  const bare = await bareServer('./bare.js');
  const service = await TestService.started(UNLIMITED);
  try {
    await service.project('bench');
    const target = ours(await service.token('bugtracker:report'));
    say(
      `\nError intake, ${name}: ${GROUPS} groups, ${bytes} bytes a body, 16 connections, durability full, ${ROUNDS} rounds of ${SECONDS} s each, in turn`,
    );
    await compared(name, service, bare, theirs, target);
  } finally {
    await service.dispose();
    bare.stop();
  }
}

/** The time that finding the group takes of a report, without the store. */
function grouping(): void {
  say('\nGrouping, per event, in this process');
  for (const size of [4096, 50 * 1024]) {
    const reports = errorBodies('bench', GROUPS, size).map((body): GroupingInput =>
      Object.assign({ type: 'error' }, JSON.parse(body) as Omit<GroupingInput, 'type'>),
    );
    // Bodies name their file as `file`, which grouping does not read: so it looks for the first frame.
    const run = (): void => reports.forEach((report) => void groupingOf(report));
    for (let i = 0; i < 20; i++) run();
    const began = process.cpuUsage();
    for (let i = 0; i < 20; i++) run();
    const { user, system } = process.cpuUsage(began);
    say(`  ${size} bytes: ${((user + system) / (20 * GROUPS)).toFixed(1)} µs of CPU`);
  }
}

/** `BENCH_ITEMS=1000,100000,1000000` for the long run, which needs 8 GB of disk and some minutes. */
const SIZES = (process.env['BENCH_ITEMS'] ?? '1000,20000').split(',').map(Number);
/** Of the parts that ask one large store; a small one is copied, and drawn, before its process has warmed up. */
const LARGE = process.env['BENCH_ITEMS'] === undefined ? 100_000 : (SIZES.at(-1) ?? 0);

TestService.asUsersRunIt = true;
say(`Node ${process.version}, ${process.platform} ${process.arch}`);
/** `npm run bench` runs the first four; `npm run bench -- webhooks heartbeats` what is named. */
const PARTS: Record<string, () => Promise<void>> = {
  intake,
  reads,
  lists: () => lists(say, SIZES, UNLIMITED),
  pages: () => pageTimes(say, LARGE, UNLIMITED),
  webhooks: () => webhookFigures(say, errorBodies('bench', 200, 1024)),
  heartbeats: () => heartbeats(say, compared),
  evaluation: () => evaluation(say),
  history: () => history(say),
  status: () => statusPage(say, ROUNDS, SECONDS),
  licenses: () => licenseFigures(say, compared),
  publishes: () => publishFigures(say, ROUNDS, SECONDS),
  setups: () => setupFigures(say, ROUNDS, SECONDS),
  peers: () => peers(say, ROUNDS, SECONDS),
  downloads: () => downloads(say, ROUNDS, SECONDS),
  releases: () => releases(say, ROUNDS, SECONDS),
  agent: () => agentFigures(say),
  loop: () => loopFigures(say, LARGE, errorBodies('bench', GROUPS, 4096), UNLIMITED),
  memory: () => memoryFigures(say, errorBodies('bench', GROUPS, 4096)),
  backup: () =>
    backupFigures({
      say,
      items: LARGE,
      bodies: errorBodies('bench', 200, 4_000),
      unlimited: UNLIMITED,
    }),
  million: () =>
    backupFigures({
      say,
      items: Number(process.env['BENCH_ITEMS'] ?? 1_000_000),
      bodies: [],
      unlimited: UNLIMITED,
      onlyTimes: true,
    }),
};
const named = process.argv.slice(2);
for (const name of named.length > 0 ? named : ['intake', 'heartbeats', 'reads', 'lists']) {
  const part = PARTS[name];
  if (part === undefined) throw new Error(`no part ${name}; there are ${Object.keys(PARTS).join(', ')}`);
  await part();
}
if (figures.length > 0) say(`\nReport and history: ${await keep(figures)}/report.html`);

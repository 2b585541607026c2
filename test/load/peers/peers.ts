/**
 * Peers side by side: each program that can be had here, beside this service and a bare hapi route, in turn in one run, by
 * the same load. What cannot be had is named and left out.
 *
 * - Event intake: Sentry envelopes of 4 KB, against Bugsink. It answers when an event lies in a file and digests it later;
 *   this service answers when the event is counted. So each of its rounds goes on until all is digested.
 * - Pings: heartbeats, and the ping address of a monitor that was taken over from Healthchecks (`/ping/{uuid}`).
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aosJson, TestService } from '../../support/service.js';
import { costLine, costOf, medians, type Cost } from '../beside.js';
import { load, median } from '../generator.js';
import { bareServer } from '../measure.js';
import { envelopeSource } from '../sentry-envelope.js';
import { heartbeatBodies } from '../watchdog.js';
import { bugsink, type Peer } from './bugsink.js';
import { NotToBeHad } from './python.js';

type Say = (text: string) => void;
type Target = Omit<Parameters<typeof load>[0], 'seconds'>;

interface Side {
  name: string;
  target: Target;
  pids: () => Promise<readonly number[]>;
  /** Resolves once all that was taken is done. Absent: it is done with the answer. */
  settled?: () => Promise<void>;
}

interface Plan {
  say: Say;
  rounds: number;
  seconds: number;
}

const GROUPS = 200;
const CHECKS = 200;
const WARM_UP = 5;
const UNLIMITED = Object.fromEntries(
  ['INTAKE_PER_MINUTE', 'INTAKE_BURST', 'API_PER_MINUTE', 'PUBLIC_PER_MINUTE'].map((key) => [
    `SVC_LIMITS__${key}`,
    '0',
  ]),
);
/** Peers that no package manager of this machine installs, with the reason. */
const LEFT_OUT = [
  'Healthchecks: it is no package of pip; it is run from its source or an image',
  'Keygen: it is no package; it is run from its source with PostgreSQL and Redis, or an image',
  'Velopack: its update feed is static files, and its packages are built by the .NET SDK; there is no server to ask',
];

export async function peers(say: Say, rounds: number, seconds: number): Promise<void> {
  const plan = { say, rounds, seconds };
  for (const left of LEFT_OUT) say(`left out: ${left}`);
  await events(plan);
  await pings(plan);
}

async function events(plan: Plan): Promise<void> {
  const { say } = plan;
  const folder = await mkdtemp(join(tmpdir(), 'aos-peers-'));
  const bare = await bareServer('./bare.js');
  const service = await TestService.started(UNLIMITED);
  let peer: Peer | null = null;
  try {
    peer = await bugsink(folder).catch((error: unknown) => {
      if (!(error instanceof NotToBeHad)) throw error;
      say(`left out: Bugsink: ${error.message}`);
      return null;
    });
    await service.project('bench');
    const token = await service.token('bugtracker:report');
    const post = {
      method: 'POST' as const,
      source: envelopeSource(GROUPS, 4096),
      type: 'application/x-sentry-envelope',
    };
    const sides: Side[] = [
      {
        name: 'bare hapi POST',
        target: { ...post, url: bare.url, paths: ['/envelope'] },
        pids: async () => [bare.pid],
      },
      {
        name: 'AOS',
        target: {
          ...post,
          url: service.url,
          paths: ['/api/1/envelope/'],
          headers: { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${token}` },
        },
        pids: async () => [service.child?.pid ?? 0],
      },
    ];
    if (peer !== null) {
      const { name, url, path, headers, pids, settled } = peer;
      sides.push({ name, target: { ...post, url, paths: [path], headers }, pids, settled });
    }
    await sideBySide(plan, `Sentry envelopes of ${post.source().length} bytes, ${GROUPS} groups`, sides);
  } finally {
    await peer?.stop();
    await service.dispose();
    bare.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function pings(plan: Plan): Promise<void> {
  const bare = await bareServer('./bare-heartbeat.js');
  const service = await TestService.started(UNLIMITED);
  try {
    const uuids = Array.from({ length: CHECKS }, () => randomUUID());
    const checks = uuids.map((uuid, n) => ({
      name: `check-${n}`,
      timeout: 3_600,
      grace: 3_600,
      ping_url: `https://checks.example/ping/${uuid}`,
    }));
    const file = join(service.dataDir, 'checks.json');
    await writeFile(file, JSON.stringify({ checks }));
    await aosJson(service.env, ['import', 'healthchecks', file]);
    const headers = { authorization: `Bearer ${await service.token('watchdog:ping')}` };
    const post = { method: 'POST' as const, bodies: heartbeatBodies(CHECKS) };
    const pids = async (): Promise<number[]> => [service.child?.pid ?? 0];
    await sideBySide(plan, `Pings of ${CHECKS} monitors`, [
      {
        name: 'bare hapi POST',
        target: { ...post, url: bare.url, paths: ['/heartbeat'] },
        pids: async () => [bare.pid],
      },
      {
        name: 'AOS, heartbeat',
        target: { ...post, url: service.url, paths: ['/api/watchdog/v1/ping'], headers },
        pids,
      },
      {
        name: 'AOS, /ping/{uuid}',
        target: {
          method: 'GET',
          url: service.url,
          paths: uuids.map((uuid) => `/ping/${uuid}`),
          bodies: uuids.map(() => ''),
        },
        pids,
      },
    ]);
  } finally {
    await service.dispose();
    bare.stop();
  }
}

/** All sides warm, then every round each of them in turn; a side that refuses is named and left out from then on. */
async function sideBySide({ say, rounds, seconds }: Plan, title: string, sides: readonly Side[]): Promise<void> {
  say(`\n${title}, 16 connections, ${rounds} rounds of ${seconds} s each, in turn; medians`);
  const costs = new Map<Side, Round[]>(sides.map((side) => [side, []]));
  for (const { target, settled } of sides) {
    await load({ ...target, seconds: WARM_UP });
    await settled?.();
  }
  for (let n = 0; n < rounds; n++) {
    for (const [side, own] of costs) {
      try {
        own.push(await oneRound(side, seconds));
      } catch (error) {
        say(`  left out: ${(error as Error).message}`);
        costs.delete(side);
      }
    }
  }
  const [yardstick = []] = costs.values();
  for (const [{ name, settled }, own] of costs) {
    const ratios = own.map(({ cost }, n) => cost.per_second / (yardstick[n]?.cost.per_second ?? NaN));
    const through =
      settled === undefined ? '' : `, ${median(own.map((round) => round.through)).toFixed(1)} a second to the end`;
    say(`${costLine(name, medians(own.map(({ cost }) => cost)))}  ${median(ratios).toFixed(3)} of the first${through}`);
  }
}

interface Round {
  /** With what is done after the answers. */
  cost: Cost;
  /** A second, until all is done. */
  through: number;
}

async function oneRound({ name, target, pids, settled }: Side, seconds: number): Promise<Round> {
  const began = performance.now();
  let taken = 0;
  const cost = await costOf({ name, pids: await pids(), seconds }, async () => {
    const result = await load({ ...target, seconds });
    taken = result.perSecond * seconds;
    await settled?.();
    return result;
  });
  return { cost, through: (taken / (performance.now() - began)) * 1000 };
}

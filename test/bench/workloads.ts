/** What is measured: the calls that applications, machines, agents and users make most. */
import { buildPackage } from '../../clients/demo/package-file.js';
import { createEnvelopeSource } from '../support/sentry-envelope.js';
import type { Workload } from './measure.js';

const GROUPS = 200;
const MONITORS = 1_000;
/** Few, because bcrypt hashes their keys in the background first. */
const LICENSES = 20;
const CLAIMS_PER_ROUND = 400;
const REPORT_BYTES = 4096;
const PROJECT = 'bench';

/**
 * Posts to the service under test and returns the body of its answer. @throws Error unless it is a
 * 2xx
 */
export type Call = (path: string, body?: object | Buffer) => Promise<Record<string, unknown>>;

export interface MeasuredCall {
  name: string;
  /** The same load on the bare server: its path, and the method where it differs. */
  bare: { path: string; method?: 'GET' };
  /** Prepares the store and returns the load. */
  prepare: (call: Call, token: string, rounds: number) => Promise<Omit<Workload, 'name'>>;
}

/** One error report per group, each of about 4 KB. */
export function createReports(groups = GROUPS): string[] {
  return Array.from({ length: groups }, (_, g) => {
    const report = {
      project: PROJECT,
      error_level: 'error',
      error_message: `Order 'A-${1000 + g}' of customer 4711${g} could not be loaded`,
      exception_class: `Shop.Orders.Failure${g}`,
      stack_trace: 'Failure: could not be loaded\n',
      environment: 'production',
      app_version: '1.4.2',
    };
    const frame = `    at load${g} (/srv/app/src/orders/module${g}.ts:${g + 1}:13)\n`;
    report.stack_trace += frame.repeat(Math.floor((REPORT_BYTES - JSON.stringify(report).length) / (frame.length + 1)));
    return JSON.stringify(report);
  });
}

/** Returns a function whose reports all belong to different groups. */
export function createNewGroupSource(): () => string {
  let count = 0;
  const [template = ''] = createReports(1);
  return () => {
    // Letters only: digits count as a value and would be masked.
    const word = (count++)
      .toString(26)
      .replaceAll(/./g, (digit) => String.fromCharCode(97 + Number.parseInt(digit, 26)));
    return template.replaceAll('Failure0', `Failure${word}`).replaceAll('could not', `${word} could not`);
  };
}

/** Heartbeats with four metrics. */
export const createHeartbeats = (monitors = MONITORS): string[] =>
  Array.from({ length: monitors }, (_, i) => {
    const metrics = { cpu: (i % 100) + 0.25, memory: 40 + (i % 50), disk: 71.5, load: (i % 8) / 4 };
    return JSON.stringify({ source: `host-${i}/agent`, status: 'ok', interval: 60, metrics });
  });

const post = (path: string, token: string, load: Partial<Workload>): Omit<Workload, 'name'> => {
  return { method: 'POST', path, headers: { authorization: `Bearer ${token}` }, ...load };
};

const BUGS = '/api/bugtracker/v1/bugs';
const REPORT = '/api/errors/v1/report';

export const CALLS: MeasuredCall[] = [
  {
    name: 'error reports, 200 groups',
    bare: { path: '/report' },
    prepare: async (_, token) => post(REPORT, token, { bodies: createReports() }),
  },
  {
    name: 'error reports, all new groups',
    bare: { path: '/report' },
    prepare: async (_, token) => post(REPORT, token, { createBody: createNewGroupSource() }),
  },
  {
    name: 'Sentry envelopes',
    bare: { path: '/envelope' },
    prepare: async (_, token) => ({
      method: 'POST',
      path: '/api/1/envelope/',
      createBody: createEnvelopeSource(GROUPS, REPORT_BYTES),
      contentType: 'application/x-sentry-envelope',
      headers: { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${token}` },
    }),
  },
  {
    name: 'heartbeats, 1,000 monitors',
    bare: { path: '/heartbeat' },
    prepare: async (_, token) => post('/api/watchdog/v1/ping', token, { bodies: createHeartbeats() }),
  },
  {
    name: 'update checks',
    bare: { path: '/empty', method: 'GET' },
    prepare: async (call) => {
      await call(`/api/updateservice/v1/publish?product=${PROJECT}&version=1.4.2`, buildPackage('a.txt', 'a'));
      return { method: 'GET', path: `/api/updateservice/v1/check?product=${PROJECT}&version=1.4.1` };
    },
  },
  {
    name: 'license validations',
    bare: { path: '/validation' },
    prepare: async (call) => {
      const order = { product: PROJECT, count: LICENSES, max_activations: 5 };
      const { items } = await call('/api/license/v1/licenses', order);
      const bodies = (items as { key: string }[]).map(({ key }, i) =>
        JSON.stringify({ license_key: key, product: PROJECT, machine_id: `host-${i}` }),
      );
      return { method: 'POST', path: '/api/license/v1/validate', bodies };
    },
  },
  {
    name: 'a page of 50 items',
    bare: { path: '/empty', method: 'GET' },
    prepare: async (call, token) => {
      for (const body of createReports(50)) await call(REPORT, JSON.parse(body) as object);
      return { method: 'GET', path: BUGS, headers: { authorization: `Bearer ${token}` } };
    },
  },
  {
    name: 'claims (action=next)',
    bare: { path: '/empty' },
    prepare: async (call, token, rounds) => {
      // Enough for every round: a claim that finds nothing is inexpensive.
      for (let i = 0; i <= CLAIMS_PER_ROUND * (rounds + 1); i++) {
        await call('/api/bugtracker/v1/report', { project: PROJECT, type: 'bug', title: `Task ${i}` });
      }
      return post(`${BUGS}?action=next&agent=bench&lease_seconds=3600`, token, { amount: CLAIMS_PER_ROUND });
    },
  },
];

/**
 * `kill -9` between the commit of a change and its delivery (contract 70): the real program, a real
 * receiver, and every kind of event that a caller can cause. Every event of an acknowledged change
 * arrives at least once, with one id and one delivery however often, and none is invented: what
 * arrived, what was asked for and the event log are compared.
 *
 * `SVC_TEST_BUDGET` says how often the process is killed; the receiver and the last check belong to
 * all rounds.
 */
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { waitUntil } from '../../harness.js';
import { Receiver } from '../../plugins/webhooks/receiver.js';
import { scaleRepeats } from '../../support/repeat-budget.js';
import { durableEngines } from '../../support/durable-engines.js';
import { TestService } from '../../support/service.js';

const ROUNDS = scaleRepeats(1);
const CALLERS = 4;
const CHANGES_BEFORE_THE_KILL = 30;
/**
 * A marker or a lease that a crash left, its taking over, and what the outbox tells again after its
 * own wait.
 */
const SETTLED_MS = 90_000;
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const SETTINGS = {
  SVC_LIMITS__INTAKE_PER_MINUTE: '0',
  SVC_LIMITS__API_PER_MINUTE: '0',
  SVC_WATCHDOG__ERROR_STATUS_IS_DOWN: 'true',
};
const SCOPES = 'bugtracker:report,bugtracker:read,bugtracker:manage,watchdog:ping,webhooks:manage';
const KINDS = [
  'bug.created',
  'bug.critical',
  'bug.resolved',
  'feature.created',
  'monitor.down',
  'monitor.recovered',
] as const;
type Kind = (typeof KINDS)[number];

const ITEM = [
  'client_ref',
  'id',
  'item_status',
  'people',
  'ref',
  'regression',
  'severity',
  'tags',
  'title',
  'type',
  'url',
];
const MONITOR = [
  'alarm_id',
  'deferred',
  'down_since_utc',
  'exit_code',
  'last_heartbeat_at',
  'message',
  'name',
  'previous_state',
  'reason',
  'resolution',
  'source',
  'state',
  'tags',
  'url',
];

const keyOf = (event: string, subject: string): string => `${event} of ${subject}`;

/** `<event> of <title or source>`, by what was asked for and what was acknowledged. */
interface Caused {
  asked: Set<string>;
  acknowledged: Set<string>;
}

/** One caller, until its connection breaks. */
async function cause(service: TestService, token: string, caller: string, caused: Caused, one: () => void) {
  const change = async (kinds: Kind[], subject: string, method: string, path: string, body: object) => {
    const keys = kinds.map((kind) => keyOf(kind, subject));
    for (const key of keys) caused.asked.add(key);
    const answer = await service.request(method, path, token, body);
    expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf([200, 201]);
    for (const key of keys) caused.acknowledged.add(key);
    one();
    return answer.body;
  };
  const report = (kinds: Kind[], subject: string, more: object) => {
    const body = { project: 'shop', title: subject, file_path: `src/${subject}.ts`, ...more };
    return change(kinds, subject, 'POST', '/api/bugtracker/v1/report', body);
  };
  const beat = (kinds: Kind[], source: string, status: string) =>
    change(kinds, source, 'POST', '/api/watchdog/v1/ping', { source, status, interval: 3600 });
  for (let i = 0; ; i++) {
    try {
      const [bug, monitor] = [`bug-${caller}-${i}`, `host-${caller}-${i}`];
      const { id } = await report(['bug.created', 'bug.critical'], bug, { severity: 'critical' });
      await beat([], monitor, 'ok');
      await beat(['monitor.down'], monitor, 'error');
      await report(['feature.created'], `feature-${caller}-${i}`, { type: 'feature' });
      await change(['bug.resolved'], bug, 'PATCH', `/api/bugtracker/v1/bugs/${String(id)}`, { status: 'resolved' });
      await beat(['monitor.recovered'], monitor, 'ok');
    } catch (problem) {
      if (problem instanceof TypeError) return; // the connection is gone
      throw problem;
    }
  }
}

interface Arrived {
  /** What → ids of the events that told it. */
  events: Map<string, Set<string>>;
  /** Event id → ids of its deliveries. */
  deliveries: Map<string, Set<string>>;
}

/** @param from what was looked at before */
function arrived(to: Receiver, seen: Arrived, from: number): number {
  for (const { headers, body } of to.got.slice(from)) {
    const signed = createHmac('sha256', SECRET).update(`${headers['x-svc-timestamp']}.${body}`).digest('hex');
    expect(headers['x-svc-signature']).to.equal(`sha256=${signed}`);
    const reported = JSON.parse(body) as { id: string; event: string; data: { title?: string; source?: string } };
    expect(reported.data, reported.event).to.have.all.keys(reported.event.startsWith('monitor.') ? MONITOR : ITEM);
    const key = keyOf(reported.event, reported.data.title ?? reported.data.source ?? '');
    seen.events.set(key, (seen.events.get(key) ?? new Set()).add(reported.id));
    const rows = seen.deliveries.get(reported.id) ?? new Set();
    seen.deliveries.set(reported.id, rows.add(headers['x-svc-delivery'] ?? ''));
  }
  return to.got.length;
}

/** The ids of the event log, whole. */
async function logged(service: TestService, token: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ;) {
    const { body } = await service.request('GET', `/api/webhooks/v1/events?limit=200${cursor}`, token);
    const { items, next_cursor: next } = body as { items: { id: string }[]; next_cursor: string | null };
    ids.push(...items.map(({ id }) => id));
    if (next === null) return ids;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
}

describe('faults: kill -9 between commit and delivery', function () {
  this.timeout(300_000 + ROUNDS * 90_000);
  for (const engine of durableEngines) {
    it(`delivers every event at least once, and no other events, on ${engine.name}`, async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      const to = await Receiver.open(({ response }) => setTimeout(() => response.writeHead(204).end(), 5));
      const service = await TestService.createStarted({ ...SETTINGS, ...settings });
      try {
        await service.createProject('shop');
        const token = await service.createToken(SCOPES);
        const hook = { name: 'receiver', url: to.url, events: '*', secret: SECRET };
        expect((await service.request('POST', '/api/webhooks/v1/webhooks', token, hook)).status).to.equal(201);
        const caused: Caused = { asked: new Set(), acknowledged: new Set() };
        for (let round = 0; round < ROUNDS; round++) {
          let done = 0;
          await new Promise<void>((resolve, reject) => {
            const one = (): void => void (++done === CHANGES_BEFORE_THE_KILL && resolve());
            const callers = Array.from({ length: CALLERS }, (_, c) =>
              cause(service, token, `r${round}c${c}`, caused, one),
            );
            Promise.all(callers).then(() => resolve(), reject);
          });
          expect(done, 'acknowledged before the kill').to.be.at.least(CHANGES_BEFORE_THE_KILL);
          await service.stop('SIGKILL');
          // Nobody kills it any more after the last round.
          await (round + 1 < ROUNDS ? service.start() : service.startInProcess());
        }
        const seen: Arrived = { events: new Map(), deliveries: new Map() };
        let looked = 0;
        const missing = (): string[] => {
          looked = arrived(to, seen, looked);
          return [...caused.acknowledged].filter((key) => !seen.events.has(key));
        };
        await waitUntil('every acknowledged change told', () => missing().length === 0, SETTLED_MS).catch(
          () => undefined,
        );
        expect(missing(), 'acknowledged and never told').to.deep.equal([]);
        const unsent = async (): Promise<string[]> => {
          missing();
          return (await logged(service, token)).filter((id) => !seen.deliveries.has(id));
        };
        await waitUntil('the whole log sent', async () => (await unsent()).length === 0, SETTLED_MS).catch(
          () => undefined,
        );
        expect(await unsent(), 'in the log and never sent').to.deep.equal([]);
        for (const [key, ids] of seen.events) {
          expect(caused.asked.has(key), `${key} was invented`).to.equal(true);
          expect(ids.size, `${key} was told under one id`).to.equal(1);
        }
        for (const [id, rows] of seen.deliveries) expect(rows.size, `${id} has one delivery`).to.equal(1);
        expect(new Set(await logged(service, token))).to.deep.equal(new Set(seen.deliveries.keys()));
        const kinds = new Set([...seen.events.keys()].map((key) => key.split(' ')[0]));
        expect([...kinds], 'every kind was caused').to.have.members([...KINDS]);
      } finally {
        await service.dispose();
        await to.close();
      }
    });
  }
});

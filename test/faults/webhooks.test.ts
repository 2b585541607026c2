/**
 * `kill -9` between the commit of a change and its delivery (contract 70): the real program, a real receiver. Every event
 * of an acknowledged report arrives at least once, with one id however often, and none is invented.
 *
 * `FAULT_ROUNDS` says how often the process is killed; the receiver and the last check belong to all rounds.
 */
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { until } from '../harness.js';
import { Receiver } from '../plugins/webhooks/receiver.js';
import { engines } from '../support/engines.js';
import { TestService } from '../support/service.js';

const ROUNDS = Number(process.env['FAULT_ROUNDS'] ?? 3);
const CALLERS = 4;
const REPORTS_BEFORE_THE_KILL = 20;
/** A lease that a crash left, its taking back, and what the outbox tells again after its own wait. */
const SETTLED_MS = 45_000;
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const NO_LIMITS = { SVC_LIMITS__INTAKE_PER_MINUTE: '0', SVC_LIMITS__API_PER_MINUTE: '0' };

interface Reports {
  asked: Set<string>;
  /** Title → id of the item. */
  acknowledged: Map<string, string>;
}

/** One caller, until its connection breaks. */
async function report(service: TestService, token: string, caller: string, seen: Reports, one: () => void) {
  for (let i = 0; ; i++) {
    const title = `bug ${caller}-${i}`;
    seen.asked.add(title);
    try {
      const answer = await service.request('POST', '/api/bugtracker/v1/report', token, {
        project: 'shop',
        title,
        file_path: `src/${caller}-${i}.ts`,
      });
      expect(answer.status).to.equal(201);
      seen.acknowledged.set(title, String(answer.body['id']));
      one();
    } catch (problem) {
      if (problem instanceof TypeError) return; // the connection is gone
      throw problem;
    }
  }
}

interface Arrived {
  /** Title → ids of the events that told it. */
  events: Map<string, Set<string>>;
  /** Event id → ids of its deliveries. */
  deliveries: Map<string, Set<string>>;
}

function arrived(to: Receiver): Arrived {
  const events: Arrived['events'] = new Map();
  const deliveries: Arrived['deliveries'] = new Map();
  for (const { headers, body } of to.got) {
    const signed = createHmac('sha256', SECRET).update(`${headers['x-svc-timestamp']}.${body}`).digest('hex');
    expect(headers['x-svc-signature']).to.equal(`sha256=${signed}`);
    const { id, event, data } = JSON.parse(body) as { id: string; event: string; data: { title: string } };
    if (event !== 'bug.created') continue;
    events.set(data.title, (events.get(data.title) ?? new Set()).add(id));
    deliveries.set(id, (deliveries.get(id) ?? new Set()).add(headers['x-svc-delivery'] ?? ''));
  }
  return { events, deliveries };
}

describe('faults: kill -9 between commit and delivery', function () {
  this.timeout(120_000 + ROUNDS * 20_000);
  for (const engine of engines) {
    it(`delivers every event at least once and invents none on ${engine.name}`, async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      const to = await Receiver.open(({ response }) => setTimeout(() => response.writeHead(204).end(), 5));
      const service = await TestService.started({ ...NO_LIMITS, ...settings });
      try {
        await service.project('shop');
        const token = await service.token('bugtracker:report,bugtracker:read,webhooks:manage');
        const hook = await service.request('POST', '/api/webhooks/v1/webhooks', token, {
          name: 'receiver',
          url: to.url,
          events: '*',
          secret: SECRET,
        });
        expect(hook.status).to.equal(201);
        const seen: Reports = { asked: new Set(), acknowledged: new Map() };
        for (let round = 0; round < ROUNDS; round++) {
          let done = 0;
          await new Promise<void>((resolve, reject) => {
            const callers = Array.from({ length: CALLERS }, (_, c) =>
              report(service, token, `r${round}c${c}`, seen, () => ++done === REPORTS_BEFORE_THE_KILL && resolve()),
            );
            Promise.all(callers).then(() => resolve(), reject);
          });
          expect(done, 'acknowledged before the kill').to.be.at.least(REPORTS_BEFORE_THE_KILL);
          await service.end('SIGKILL');
          await service.start();
        }
        const missing = (): string[] => {
          const { events } = arrived(to);
          return [...seen.acknowledged.keys()].filter((title) => !events.has(title));
        };
        await until('every acknowledged report told', () => missing().length === 0, SETTLED_MS).catch(() => undefined);
        expect(missing(), 'acknowledged and never told').to.deep.equal([]);
        const { events, deliveries } = arrived(to);
        for (const [title, ids] of events) {
          expect(seen.asked.has(title), `${title} was invented`).to.equal(true);
          expect(ids.size, `${title} was told under one id`).to.equal(1);
        }
        for (const [id, rows] of deliveries) expect(rows.size, `${id} has one delivery`).to.equal(1);
        const log = await service.request('GET', '/api/webhooks/v1/events?limit=1&include_total=true', token);
        expect(log.body['total']).to.be.at.least(events.size);
      } finally {
        await service.dispose();
        await to.close();
      }
    });
  }
});

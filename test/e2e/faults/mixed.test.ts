/**
 * `kill -9` at random moments under mixed load: every acknowledged report, claim, comment,
 * resolution and event is there afterwards, once (contract 00, storage; contract 20, leases;
 * contract 70, delivery).
 *
 * What was asked for but not acknowledged may or may not have happened; it too must not have
 * happened twice. `SVC_TEST_BUDGET` says how often the process is killed.
 */
import { expect } from 'chai';
import { waitUntil } from '../../harness.js';
import { scaleRepeats } from '../../support/repeat-budget.js';
import { durableEngines } from '../../support/durable-engines.js';
import { TestService, type ServiceResponse } from '../../support/service.js';
import { Ledger } from './ledger.js';

const ROUNDS = scaleRepeats(1);
const CALLERS = 8;
/** Steps that are acknowledged before the kill: at least, and at most. */
const STEPS = [40, 160] as const;
const GROUPS = 5;
const NO_LIMITS = { SVC_LIMITS__INTAKE_PER_MINUTE: '0', SVC_LIMITS__API_PER_MINUTE: '0' };
const BUGS = '/api/bugtracker/v1';

/** The connection broke: nobody knows what became of the request. */
class Broken extends Error {}

class Caller {
  #step = 0;
  readonly #own: string[] = [];

  constructor(
    private readonly service: TestService,
    private readonly token: string,
    private readonly name: string,
    private readonly ledger: Ledger,
  ) {}

  /** One mixed step after the other, until the connection breaks. */
  async work(acknowledged: () => void): Promise<void> {
    const steps = ['error', 'bug', 'comment', 'claim', 'error', 'resolve'] as const;
    try {
      for (;;) {
        const step = steps[this.#step++ % steps.length] ?? 'error';
        await this[step]();
        acknowledged();
      }
    } catch (problem) {
      if (!(problem instanceof Broken)) throw problem;
    }
  }

  async error(): Promise<void> {
    const group = `Failure${this.#step % GROUPS}`;
    this.ledger.askError(group);
    const { status, body } = await this.#ask('POST', '/api/errors/v1/report', {
      project: 'shop',
      error_level: 'error',
      error_message: 'boom',
      exception_class: group,
      file: 'src/a.ts',
    });
    expect(status).to.be.oneOf([200, 201]);
    this.ledger.errorCounted(group, Number(body['hit_count']));
  }

  async bug(): Promise<void> {
    const ref = `${this.name}-${this.#step}`;
    const { status, body } = await this.#ask('POST', `${BUGS}/report`, bugReport(ref));
    expect(status).to.equal(201);
    this.#own.push(String(body['id']));
    this.ledger.reported(ref, String(body['id']));
  }

  async comment(): Promise<void> {
    const id = this.#own.at(-1);
    if (id === undefined) return;
    const text = `seen by ${this.name} in step ${this.#step}`;
    const { status } = await this.#ask('POST', `${BUGS}/bugs/${id}/comments`, { body: text });
    expect(status).to.equal(201);
    this.ledger.commented(id, text);
  }

  async claim(): Promise<void> {
    const agent = `${this.name}-${this.#step}`;
    const { status, body } = await this.#ask('POST', `${BUGS}/bugs?action=next&type=bug`, { agent });
    expect(status).to.equal(200);
    const item = body['item'] as { id: string } | null;
    if (item === null) return;
    this.ledger.claimed(item.id, { agent, token: (body['lease'] as { claim_token: string }).claim_token });
  }

  async resolve(): Promise<void> {
    const found = this.ledger.openClaim(`${this.name}-`);
    if (found === null) return;
    const [id, { token }] = found;
    this.ledger.askResolve(id);
    const { status } = await this.#ask('PATCH', `${BUGS}/bugs/${id}`, { status: 'resolved', claim_token: token });
    expect(status).to.equal(200);
    this.ledger.resolved(id);
  }

  async #ask(method: string, path: string, body: unknown): Promise<ServiceResponse> {
    try {
      return await this.service.request(method, path, this.token, body);
    } catch (problem) {
      if (problem instanceof TypeError || problem instanceof SyntaxError) throw new Broken();
      throw problem;
    }
  }
}

const bugReport = (ref: string): Record<string, string> => ({
  project: 'shop',
  title: `bug ${ref}`,
  client_ref: ref,
  file_path: `src/${ref}.ts`,
});

/** Every page of a list. */
async function all<T>(service: TestService, token: string, path: string): Promise<T[]> {
  const found: T[] = [];
  for (let cursor = ''; ;) {
    const more = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await service.request('GET', `${path}&limit=200${more}`, token);
    expect(status, path).to.equal(200);
    found.push(...(body['items'] as T[]));
    if (body['next_cursor'] === null) return found;
    cursor = body['next_cursor'] as string;
  }
}

/** All of them, as many at once as there were callers. */
async function each<T>(list: Iterable<T>, check: (one: T) => Promise<void>): Promise<void> {
  const rest = [...list];
  const work = async (): Promise<void> => {
    for (let one = rest.pop(); one !== undefined; one = rest.pop()) await check(one);
  };
  await Promise.all(Array.from({ length: CALLERS }, work));
}

/** Repeats every report of the round: the same item, not created, not counted. */
async function checkRepeats(service: TestService, token: string, refs: Iterable<[string, string]>): Promise<void> {
  await each(refs, async ([ref, id]) => {
    const { status, body } = await service.request('POST', `${BUGS}/report`, token, bugReport(ref));
    expect([status, body['id'], body['created']], ref).to.deep.equal([200, id, false]);
  });
}

/** The holder of each claim of the round still holds it. */
async function checkClaims(service: TestService, token: string, ledger: Ledger, agents: string): Promise<void> {
  await each(ledger.claimsOf(agents), async ([id, { agent, token: claimToken }]) => {
    const { status, body } = await service.request('GET', `${BUGS}/bugs/${id}`, token);
    expect(status, id).to.equal(200);
    const item = body['item'] as { status: string; claim: { agent: string } | null; claim_count: number };
    expect(item.claim_count, `${id} was handed out once`).to.equal(1);
    const outcome = ledger.resolution(id);
    if (outcome === 'acknowledged' || (outcome === 'asked' && item.status === 'resolved')) {
      expect([item.status, item.claim], id).to.deep.equal(['resolved', null]);
      return;
    }
    expect([item.status, item.claim?.agent], id).to.deep.equal(['in_progress', agent]);
    const renewal = await service.request('POST', `${BUGS}/bugs/${id}/renew`, token, { claim_token: claimToken });
    expect(renewal.status, id).to.equal(200);
  });
}

async function checkComments(service: TestService, token: string, ids: Iterable<[string, string[]]>): Promise<void> {
  await each(ids, async ([id, texts]) => {
    const comments = await all<{ body: string }>(service, token, `${BUGS}/bugs/${id}/comments?`);
    const bodies = comments.map((comment) => comment.body);
    expect(new Set(bodies).size, `comments of ${id}`).to.equal(bodies.length);
    expect(bodies, id).to.include.members(texts);
  });
}

interface Shown {
  id: string;
  exception_class: string | null;
  hit_count: number;
  client_ref: string | null;
  status: string;
}

/** Each event of an item is there once: of those that must have one, and of no other. */
async function checkEvents(service: TestService, token: string, items: Shown[]): Promise<void> {
  const of = async (event: string): Promise<string[]> => {
    const events = await all<{ data: { id: string } }>(service, token, `/api/webhooks/v1/events?event=${event}`);
    return events.map(({ data }) => data.id).sort();
  };
  const ids = items.map((item) => item.id).sort();
  const resolved = items.filter((item) => item.status === 'resolved').map((item) => item.id);
  // Told at the latest by the outbox's second look, 30 s after the start; it then has all of them
  // to write.
  const complete = async (): Promise<boolean> =>
    (await of('bug.created')).length >= ids.length && (await of('bug.resolved')).length >= resolved.length;
  await waitUntil('every event', complete).catch(() => undefined);
  expect(await of('bug.created'), 'bug.created').to.deep.equal(ids);
  expect(await of('bug.resolved'), 'bug.resolved').to.deep.equal(resolved.sort());
}

async function checkAll(service: TestService, token: string, ledger: Ledger): Promise<void> {
  const items = await all<Shown>(service, token, `${BUGS}/bugs?project=shop`);
  const refs = items.map((item) => item.client_ref).filter((ref) => ref !== null);
  expect(new Set(refs).size, 'one item for each client_ref').to.equal(refs.length);
  expect(new Map(items.map((item) => [item.client_ref, item.id]))).to.include.all.keys([...ledger.refs.keys()]);
  const errors = items.filter((item) => item.exception_class?.startsWith('Failure'));
  const groups = errors.map((item) => item.exception_class);
  expect(new Set(groups).size, `one item for each of ${groups.join()}`).to.equal(groups.length);
  // A report that the kill left without an answer may have been stored, also the first one of its
  // group.
  expect(groups).to.include.members(ledger.acknowledgedGroups);
  expect(ledger.sentGroups).to.include.members(groups);
  for (const { exception_class: group, hit_count: hits } of errors)
    expect(hits, String(group)).to.be.within(Math.max(1, ledger.counted(String(group))), ledger.asked(String(group)));
  for (const { id, status } of items) {
    if (ledger.resolution(id) === 'acknowledged') expect(status, id).to.equal('resolved');
  }
  await checkEvents(service, token, items);
}

describe('faults: kill -9 at random moments under mixed load', function () {
  this.timeout(300_000 + ROUNDS * 20_000);
  for (const engine of durableEngines) {
    it(`retains all acknowledged writes, once, in ${ROUNDS} rounds on ${engine.name}`, async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      const service = await TestService.createStarted({ ...NO_LIMITS, ...settings });
      try {
        await service.createProject('shop');
        const token = await service.createToken('bugtracker:report,bugtracker:manage,webhooks:manage');
        const ledger = new Ledger();
        for (let round = 0; round < ROUNDS; round++) {
          const before = new Map(ledger.refs);
          const wanted = STEPS[0] + Math.floor(Math.random() * (STEPS[1] - STEPS[0]));
          let done = 0;
          await new Promise<void>((resolve, reject) => {
            const callers = Array.from({ length: CALLERS }, (_, c) =>
              new Caller(service, token, `r${round}c${c}`, ledger).work(() => {
                if (++done === wanted) void service.stop('SIGKILL');
              }),
            );
            Promise.all(callers).then(() => resolve(), reject);
          });
          expect(done, 'acknowledged before the kill').to.be.at.least(wanted);
          await service.stop('SIGKILL');
          // Nobody kills it any more after the last round.
          await (round + 1 < ROUNDS ? service.start() : service.startInProcess());
          await checkRepeats(
            service,
            token,
            [...ledger.refs].filter(([ref]) => !before.has(ref)),
          );
          await checkClaims(service, token, ledger, `r${round}`);
          await checkComments(
            service,
            token,
            [...ledger.comments].filter(([id]) => ![...before.values()].includes(id)),
          );
        }
        await checkAll(service, token, ledger);
      } finally {
        await service.dispose();
      }
    });
  }
});

/**
 * `kill -9` at random moments while items are merged, taken apart and divided, alarms acknowledged
 * and projects deleted (contract 20, merge and split; contract 15, deleting and archiving): what
 * was acknowledged holds after the restart, every acknowledged report is counted once, and no half
 * state stands longer than the reconciler needs.
 *
 * `SVC_TEST_BUDGET` says how often the process is killed.
 */
import { expect } from 'chai';
import { waitUntil } from '../../harness.js';
import { scaleRepeats } from '../../support/repeat-budget.js';
import { durableEngines } from '../../support/durable-engines.js';
import { TestService, type ServiceResponse } from '../../support/service.js';

const ROUNDS = scaleRepeats(1);
const CALLERS = 4;
/** Steps that are acknowledged before the kill: at least, and at most. */
const STEPS = [20, 120] as const;
/** A project that was cut off while it left waits a minute for its process. */
const SETTLED_MS = 120_000;
const SETTINGS = {
  SVC_LIMITS__INTAKE_PER_MINUTE: '0',
  SVC_LIMITS__API_PER_MINUTE: '0',
  SVC_WATCHDOG__ERROR_STATUS_IS_DOWN: 'true',
};
const SCOPES =
  'bugtracker:report,bugtracker:manage,watchdog:ping,watchdog:read,watchdog:manage,projects:manage,webhooks:manage';
const BUGS = '/api/bugtracker/v1';
const INCIDENTS = '/api/watchdog/v1/incidents';
const PROJECTS = '/api/projects/v1/projects';
const HOOKS = '/api/webhooks/v1/webhooks';

interface Shown {
  id: string;
  hit_count: number;
  status: string;
  duplicate_of: string | null;
}

interface Ledger {
  asked: number;
  counted: number;
  /**
   * Merged item → the item that it was merged into; null: it was taken back. Only where nothing is
   * open.
   */
  merged: Map<string, string | null>;
  /** Incidents. */
  acknowledged: Set<string>;
  /** Slugs: asked to be deleted, and whether it was answered. */
  deleted: Map<string, boolean>;
}

/** Digits would make the groups alike to the flood rule (contract 21). */
const toLetters = (text: string): string =>
  text.replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '').replaceAll(/[^a-zA-Z]/g, 'x');

/**
 * Reports, merges, splits, divisions, acknowledgements and deletions of one caller, until its
 * connection breaks.
 */
async function work(service: TestService, token: string, name: string, ledger: Ledger, one: () => void) {
  const ask = async (method: string, path: string, body?: object): Promise<ServiceResponse['body']> => {
    const answer = await service.request(method, path, token, body);
    expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).to.be.oneOf([200, 201]);
    one();
    return answer.body;
  };
  const report = async (group: string, environment: string): Promise<{ id: string; hits: number }> => {
    ledger.asked++;
    const { id, hit_count: hits } = await ask('POST', '/api/errors/v1/report', {
      project: 'shop',
      error_level: 'error',
      error_message: 'boom',
      exception_class: group,
      file: `src/${group}.ts`,
      environment,
    });
    ledger.counted++;
    return { id: String(id), hits: Number(hits) };
  };
  const merge = async (from: string, into: string | null): Promise<void> => {
    ledger.merged.delete(from);
    if (into === null) await ask('POST', `${BUGS}/bugs/${from}/split`, {});
    else await ask('POST', `${BUGS}/bugs/${from}/merge`, { into });
    ledger.merged.set(from, into);
  };
  for (let n = 0; ; n++) {
    try {
      const [left, right] = ['Left', 'Right'].map((side) => `${side}Of${toLetters(`${name}-${n}`)}`) as [
        string,
        string,
      ];
      const a = await report(left, 'production');
      await report(left, 'staging');
      const b = await report(right, 'production');
      await merge(b.id, a.id);
      expect(await report(right, 'production'), 'counted where it was merged').to.deep.equal({ id: a.id, hits: 3 });
      const by = { field: 'environment', values: ['staging'] };
      const divided = await ask('POST', `${BUGS}/bugs/${a.id}/split`, { by });
      const part = (divided['split_off'] as Shown).id;
      expect(await report(left, 'staging'), 'counted at the part').to.deep.equal({ id: part, hits: 2 });
      await merge(b.id, null);
      expect(await report(right, 'production'), 'counted at its own').to.deep.equal({ id: b.id, hits: 2 });
      await merge(part, b.id);

      const source = `host-${name}-${n}`;
      await ask('POST', '/api/watchdog/v1/ping', { source, interval: 3600 });
      await ask('POST', '/api/watchdog/v1/ping', { source, interval: 3600, status: 'error' });
      const { items } = await ask('GET', `${INCIDENTS}?source=${source}`);
      const [incident] = items as { id: string }[];
      await ask('POST', `${INCIDENTS}/${incident?.id}/acknowledge`, {});
      ledger.acknowledged.add(incident?.id ?? '');

      const slug = `gone-${name}-${n}`;
      await ask('POST', PROJECTS, { slug });
      for (const hook of ['one', 'two', 'three'])
        await ask('POST', HOOKS, { name: hook, url: 'http://127.0.0.1:9/', events: '*', project_slug: slug });
      ledger.deleted.set(slug, false);
      await ask('DELETE', `${PROJECTS}/${slug}`);
      ledger.deleted.set(slug, true);
    } catch (problem) {
      if (problem instanceof TypeError) return; // the connection is gone
      throw problem;
    }
  }
}

/** Every page of a list. */
async function all<T>(service: TestService, token: string, path: string): Promise<T[]> {
  const found: T[] = [];
  for (let cursor = ''; ;) {
    const { status, body } = await service.request('GET', `${path}limit=200${cursor}`, token);
    expect(status, path).to.equal(200);
    found.push(...(body['items'] as T[]));
    const next = body['next_cursor'] as string | null;
    if (next === null) return found;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
}

/** What was acknowledged, at once after the restart. */
async function checkAcknowledged(service: TestService, token: string, ledger: Ledger): Promise<void> {
  const items = new Map((await all<Shown>(service, token, `${BUGS}/bugs?`)).map((item) => [item.id, item]));
  for (const [from, into] of ledger.merged) {
    const { status, duplicate_of } = items.get(from) ?? expect.fail(`${from} is gone`);
    const wanted = into === null ? ['open', null] : ['duplicate', into];
    expect([status, duplicate_of], from).to.deep.equal(wanted);
  }
  const incidents = await all<{ id: string; acknowledged_by: string | null }>(service, token, `${INCIDENTS}?`);
  const taken = incidents.filter((incident) => incident.acknowledged_by !== null).map(({ id }) => id);
  expect(taken).to.include.members([...ledger.acknowledged]);
  for (const [slug, answered] of ledger.deleted) {
    const { status } = await service.request('GET', `${PROJECTS}/${slug}`, token);
    if (answered) expect(status, slug).to.equal(404);
  }
}

/** Nobody asked again: what the crash cut off was finished, or never began. */
async function checkItems(service: TestService, token: string, ledger: Ledger): Promise<void> {
  const items = await all<Shown>(service, token, `${BUGS}/bugs?`);
  const hits = items.reduce((sum, { hit_count }) => sum + hit_count, 0);
  expect(hits, 'counted once').to.be.within(ledger.counted, ledger.asked);
  for (const { id, status, duplicate_of } of items)
    if (status === 'duplicate') expect(ledger.merged.get(id) ?? duplicate_of, id).to.equal(duplicate_of);
  for (const [from, into] of ledger.merged) {
    if (into === null) continue;
    const trail = await all<{ action: string; data: { ref?: string; item_id?: string } }>(
      service,
      token,
      `${BUGS}/bugs/${into}/activity?`,
    );
    const reported = trail.filter(({ action, data }) => action === 'merged' && data.item_id === from);
    expect(reported, `${into} tells of ${from} once`).to.have.lengthOf(1);
  }
}

/** The same of projects. */
async function checkProjects(service: TestService, token: string, ledger: Ledger): Promise<void> {
  const bound = new Set(
    (await all<{ project_slug: string | null }>(service, token, `${HOOKS}?`)).map((h) => h.project_slug),
  );
  for (const slug of ledger.deleted.keys()) {
    const there = (await service.request('GET', `${PROJECTS}/${slug}`, token)).status === 200;
    expect(bound.has(slug), `${slug} is there as a whole, or gone`).to.equal(there);
    if (there) continue;
    const made = await service.request('POST', PROJECTS, token, { slug });
    expect(made.status, `${slug} is free again`).to.equal(201);
    ledger.deleted.delete(slug);
  }
}

describe('faults: kill -9 while items are merged and split', function () {
  this.timeout(300_000 + ROUNDS * 60_000);
  for (const engine of durableEngines) {
    it(`retains acknowledged changes and no partial state in ${ROUNDS} rounds on ${engine.name}`, async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      const service = await TestService.createStarted({ ...SETTINGS, ...settings });
      try {
        await service.createProject('shop');
        const token = await service.createToken(SCOPES);
        const ledger: Ledger = { asked: 0, counted: 0, merged: new Map(), acknowledged: new Set(), deleted: new Map() };
        for (let round = 0; round < ROUNDS; round++) {
          const wanted = STEPS[0] + Math.floor(Math.random() * (STEPS[1] - STEPS[0]));
          let done = 0;
          const one = (): void => void (++done === wanted && void service.stop('SIGKILL'));
          await Promise.all(
            Array.from({ length: CALLERS }, (_, c) => work(service, token, `r${round}c${c}`, ledger, one)),
          );
          expect(done, 'acknowledged before the kill').to.be.at.least(wanted);
          await service.stop('SIGKILL');
          // Nobody kills it any more after the last round.
          await (round + 1 < ROUNDS ? service.start() : service.startInProcess());
          await checkAcknowledged(service, token, ledger);
        }
        // The projects first: they take longest, and to ask for them costs little.
        const unsettled = [checkProjects, checkItems];
        let fault: unknown = null;
        await waitUntil(
          'all is settled',
          async () => {
            try {
              for (; unsettled[0] !== undefined; unsettled.shift()) await unsettled[0](service, token, ledger);
              return true;
            } catch (problem) {
              fault = problem;
              return false;
            }
          },
          SETTLED_MS,
        ).catch(() => {
          throw fault;
        });
      } finally {
        await service.dispose();
      }
    });
  }
});

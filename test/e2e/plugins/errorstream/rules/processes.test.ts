/**
 * Ignore rules in the real program: under `kill -9`, and in two processes on one store. Hits and
 * the crossing of the rate that were acknowledged are there afterwards, once; a change of a rule is
 * in force in the other process within two seconds.
 */
import { expect } from 'chai';
import { waitUntil } from '../../../../harness.js';
import { scaleRepeats } from '../../../../support/repeat-budget.js';
import { durableEngines } from '../../../../support/durable-engines.js';
import { TestService } from '../../../../support/service.js';

const NO_LIMITS = {
  SVC_LIMITS__INTAKE_PER_MINUTE: '0',
  SVC_LIMITS__API_PER_MINUTE: '0',
  SVC_LIMITS__BULK_PER_MINUTE: '0',
};
const SCOPES = 'bugtracker:report,bugtracker:read,bugtracker:manage,webhooks:manage';
const RULES = '/api/errors/v1/ignore-rules';
const ROUNDS = scaleRepeats(1);
const CALLERS = 8;
const REPORTS_BEFORE_THE_KILL = 30;
const THRESHOLD = 20;

const error = (fields: object = {}): object => ({
  project: 'shop',
  error_level: 'error',
  error_message: 'known noise',
  exception_class: 'Noise',
  file: 'src/noise.ts',
  ...fields,
});

interface Exceeded {
  id: string;
  data: { id: string; count: number; threshold: number; rule_id: string };
}

async function exceeded(service: TestService, token: string, rule: string): Promise<Exceeded[]> {
  const path = '/api/webhooks/v1/events?event=error.rate_exceeded&limit=200';
  const items = (await service.request('GET', path, token)).body['items'] as Exceeded[];
  return items.filter(({ data }) => data.rule_id === rule);
}

async function ruleOf(service: TestService, token: string, id: string): Promise<{ hit_count: number }> {
  return (await service.request('GET', `${RULES}/${id}`, token)).body['rule'] as { hit_count: number };
}

/** Classes that differ by digits alone are one to the flood guard. */
const lettersOf = (n: number): string => String(n).replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)));

describe('ignore rules in the running service', function () {
  for (const engine of durableEngines) {
    describe(`on ${engine.name}`, () => {
      let service: TestService;
      let token: string;
      let settings: Record<string, string>;

      before(async function () {
        const found = await engine.settings();
        if (found === null) this.skip();
        settings = { ...NO_LIMITS, ...found };
        service = await TestService.createStarted(settings);
        for (const slug of ['shop', 'many']) await service.createProject(slug);
        token = await service.createToken(SCOPES);
      });
      after(() => service?.dispose());

      const report = async (at: TestService, fields: object = {}): Promise<Record<string, unknown>> => {
        const { status, body } = await at.request('POST', '/api/errors/v1/report', token, error(fields));
        expect(status, JSON.stringify(body)).to.be.oneOf([200, 201]);
        return body;
      };
      async function ruled(fields: object = {}): Promise<string> {
        const rule = { match_type: 'contains', pattern: 'KNOWN NOISE', reason: 'known', ...fields };
        const { status, body } = await service.request('POST', RULES, token, rule);
        expect(status, JSON.stringify(body)).to.equal(201);
        return (body['rule'] as { id: string }).id;
      }

      it('lose no acknowledged hit when killed under load, and report the threshold once', async () => {
        const id = await ruled({ alarm_threshold: THRESHOLD });
        let requested = 0;
        let acknowledged = 0;
        for (let round = 0; round < ROUNDS; round++) {
          let done = 0;
          const caller = async (): Promise<void> => {
            for (;;) {
              requested += 1;
              try {
                expect((await report(service))['ignored']).to.equal(true);
              } catch (problem) {
                if (problem instanceof TypeError) return; // the connection is gone
                throw problem;
              }
              acknowledged += 1;
              if (++done === REPORTS_BEFORE_THE_KILL) await service.stop('SIGKILL');
            }
          };
          await Promise.all(Array.from({ length: CALLERS }, caller));
          await service.start();
          const { hit_count } = await ruleOf(service, token, id);
          expect(hit_count, `round ${round}`).to.be.within(acknowledged, requested);
        }
        const item = await report(service);
        expect(item['hit_count']).to.be.within(acknowledged + 1, requested + 1);
        expect(acknowledged).to.be.greaterThan(THRESHOLD);
        // At the latest by the outbox's second look, 30 s after the start.
        await waitUntil('the event', async () => (await exceeded(service, token, id)).length > 0);
        await service.stop('SIGTERM');
        await service.start();
        await report(service);
        const reported = await exceeded(service, token, id);
        expect(reported).to.have.length(1);
        expect(reported[0]?.data).to.include({ id: item['id'], threshold: THRESHOLD, rule_id: id });
        expect(reported[0]?.data.count).to.be.greaterThan(THRESHOLD);
      });

      it('mute every group when the rule is applied again after a kill', async () => {
        const groups = 250;
        const error_message = 'known by many';
        for (let i = 0; i < groups; i += 50) {
          const list = Array.from({ length: 50 }, (_, k) =>
            error({
              project: 'many',
              error_message,
              exception_class: `Noise${lettersOf(i + k)}x`,
              file: `src/${lettersOf(i + k)}.ts`,
            }),
          );
          await service.request('POST', '/api/errors/v1/report', token, list);
        }
        const id = await ruled({ pattern: error_message });
        const muted = async (): Promise<number> => {
          const path = '/api/bugtracker/v1/bugs?project=many&muted=true&include_total=true&limit=1';
          return (await service.request('GET', path, token)).body['total'] as number;
        };
        const cut = service.request('POST', `${RULES}/${id}/apply`, token).catch(() => null);
        await waitUntil('some groups are muted', async () => (await muted()) > 0);
        await service.stop('SIGKILL');
        await cut;
        await service.startInProcess();
        const again = await service.request('POST', `${RULES}/${id}/apply`, token);
        expect(again.status).to.equal(200);
        expect(again.body['matched']).to.equal(groups);
        expect(Number(again.body['muted']) + Number(again.body['skipped'])).to.equal(groups);
        expect(await muted()).to.equal(groups);
      });

      it('emit one event for 128 parallel reports in two processes, count each hit, and apply changes', async function () {
        if (engine.name === 'sqlite') this.skip(); // one process serves an embedded store
        const two = await TestService.createStarted(settings);
        try {
          const fields = { error_message: 'known to both', exception_class: 'Both', file: 'src/both.ts' };
          const id = await ruled({ pattern: fields.error_message, alarm_threshold: THRESHOLD });
          const ignored = async (at: TestService): Promise<boolean> => (await report(at, fields))['ignored'] === true;
          await waitUntil('the other process knows the rule', () => ignored(two));
          const before = (await ruleOf(service, token, id)).hit_count;
          const answers = await Promise.all(
            Array.from({ length: 128 }, (_, i) => ignored(i % 2 === 0 ? service : two)),
          );
          expect(answers.every(Boolean)).to.equal(true);
          expect((await ruleOf(two, token, id)).hit_count).to.equal(before + 128);
          await waitUntil('the event', async () => (await exceeded(service, token, id)).length > 0);
          expect(await exceeded(two, token, id)).to.have.length(1);

          expect((await service.request('PATCH', `${RULES}/${id}`, token, { enabled: false })).status).to.equal(200);
          expect(await ignored(service)).to.equal(false);
          await waitUntil('the other process has noticed', async () => !(await ignored(two)));
        } finally {
          await two.dispose();
        }
      });
    });
  }
});

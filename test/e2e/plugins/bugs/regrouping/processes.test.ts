/**
 * Grouping rules in the whole service, on the embedded store and on MongoDB with two processes: a
 * change is in force in the other process within two seconds, parallel first reports make one
 * group, and writers of both lose nothing.
 */
import { expect } from 'chai';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '../../../../harness.js';
import { durableEngines } from '../../../../support/durable-engines.js';
import { runCliJson, buildServiceEnv, TestService } from '../../../../support/service.js';

const NO_LIMITS = {
  SVC_LIMITS__INTAKE_PER_MINUTE: '0',
  SVC_LIMITS__API_PER_MINUTE: '0',
  SVC_LIMITS__BULK_PER_MINUTE: '0',
};
const RULE = { message: 'timeout of (\\w+)', fingerprint: ['timeout', '{{ 1 }}'] };

describe('bugs: grouping rules in the running service', function () {
  for (const engine of durableEngines) {
    describe(`on ${engine.name}`, () => {
      const services: TestService[] = [];
      let settings: Record<string, string>;
      let token: string;
      /** Each test has one of its own. */
      let project: string;
      let n = 0;
      const rules = (): string => `/api/bugtracker/v1/projects/${project}/grouping-rules`;

      before(async function () {
        const found = await engine.settings();
        if (found === null) this.skip();
        settings = { ...NO_LIMITS, ...found };
        services.push(await TestService.createInProcess(settings));
        token = await here().createToken('bugtracker:report,bugtracker:read,bugtracker:manage');
      });
      beforeEach(() => here().createProject((project = `shop-${++n}`)));
      after(async () => {
        for (const service of services) await service.dispose();
      });

      const here = (): TestService => services[0] as TestService;
      async function report(service: TestService, error_message: string, file: string): Promise<string> {
        const { status, body } = await service.request('POST', '/api/errors/v1/report', token, {
          project,
          error_level: 'error',
          error_message,
          file,
        });
        expect(status, JSON.stringify(body)).to.be.oneOf([200, 201]);
        return String(body['id']);
      }
      async function made(service: TestService, fields: object = RULE): Promise<string> {
        const { status, body } = await service.request('POST', rules(), token, fields);
        expect(status, JSON.stringify(body)).to.equal(201);
        return (body['rule'] as { id: string }).id;
      }
      const ids = async (service: TestService): Promise<string[]> =>
        ((await service.request('GET', rules(), token)).body['items'] as { id: string }[]).map(({ id }) => id);

      it('group parallel first reports from many files and callers together', async () => {
        await made(here());
        const found = await Promise.all(
          Array.from({ length: 40 }, (_, i) => report(here(), `timeout of db, call ${i}`, `f${i}.ts`)),
        );
        expect(new Set(found).size).to.equal(1);
      });

      it('apply to every intake: Sentry envelopes, OpenTelemetry logs, and both report routes', async () => {
        await made(here());
        const keys = `/api/projects/v1/projects/${project}/intake-keys`;
        const manager = await here().createToken('projects:manage');
        const dsn = new URL(String((await here().request('POST', keys, manager, {})).body['dsn']));
        const message = 'timeout of every way';
        const stacktrace = { frames: [{ filename: 'src/sdk.ts', function: 'call', in_app: true }] };
        const event = {
          event_id: 'e'.repeat(32),
          exception: { values: [{ type: 'SdkError', value: message, stacktrace }] },
          fingerprint: ['of the client', '{{ default }}'],
        };
        const lines = [{ event_id: event.event_id }, { type: 'event' }, event].map((one) => JSON.stringify(one));
        const envelope = await fetch(`${here().url}/api${dsn.pathname}/envelope/?sentry_key=${dsn.username}`, {
          method: 'POST',
          body: lines.join('\n'),
        });
        expect(envelope.status).to.equal(200);
        const attributes = [
          { key: 'exception.type', value: { stringValue: 'OtlpError' } },
          { key: 'exception.message', value: { stringValue: message } },
          { key: 'code.file.path', value: { stringValue: 'otlp/main.go' } },
        ];
        const resourceLogs = [
          {
            resource: { attributes: [{ key: 'service.name', value: { stringValue: project } }] },
            scopeLogs: [{ logRecords: [{ severityNumber: 17, body: { stringValue: message }, attributes }] }],
          },
        ];
        const bound = await here().createToken('bugtracker:report', project);
        expect((await here().request('POST', '/v1/logs', bound, { resourceLogs })).status).to.equal(200);
        const reported = { project, type: 'error', title: message, error_message: message };
        expect((await here().request('POST', '/api/bugtracker/v1/report', token, reported)).status).to.equal(200);
        await report(here(), message, 'a.ts');
        const { body } = await here().request('GET', `/api/bugtracker/v1/bugs?project=${project}`, token);
        expect((body['items'] as { hit_count: number }[]).map(({ hit_count }) => hit_count)).to.deep.equal([4]);
      });

      it('are included in backups and exports', async function () {
        // `aos backup` is of the embedded store.
        if (engine.name !== 'sqlite') this.skip();
        const rule = await made(here());
        const folder = await mkdtemp(join(tmpdir(), 'aos-rules-'));
        try {
          for (const [write, read] of [
            ['backup', 'restore'],
            ['export', 'import'],
          ] as const) {
            const file = join(folder, `${write}.tar.gz`);
            await runCliJson(here().env, [write, file]);
            const target = join(folder, read);
            for (const key of read === 'import' ? ['data-key', 'license-key', 'release-key.pem'] : [])
              await cp(join(here().env['SVC_DATA_DIR'] ?? '', key), join(target, key));
            await runCliJson(buildServiceEnv(target), [read, file]);
            const moved = await TestService.createStarted(NO_LIMITS, target);
            services.push(moved);
            expect(await ids(moved), read).to.deep.equal([rule]);
            const [a, b] = [await report(moved, 'timeout of x', 'a.ts'), await report(moved, 'timeout of x', 'b.ts')];
            expect(a, read).to.equal(b);
          }
        } finally {
          await rm(folder, { recursive: true, force: true });
        }
      });

      it('apply in a second process within two seconds, and group reports of both processes together', async function () {
        // The embedded store has one process.
        if (engine.name !== 'mongodb') this.skip();
        const other = await TestService.createStarted(settings);
        services.push(other);
        const before = await report(other, 'timeout of db', 'a.ts');
        const rule = await made(here());
        const ruled = await report(here(), 'timeout of db', 'a.ts');
        expect(ruled).not.to.equal(before);
        await waitUntil('the rule there', async () => (await report(other, 'timeout of db', 'a.ts')) === ruled);
        const both = await Promise.all(
          Array.from({ length: 40 }, (_, i) => report(i % 2 ? other : here(), 'timeout of mail', `f${i}.ts`)),
        );
        expect(new Set(both).size).to.equal(1);
        const written = await Promise.all(
          Array.from({ length: 20 }, (_, i) => made(i % 2 ? other : here(), { message: `m${i}`, title: 't' })),
        );
        expect(await ids(other)).to.have.members([rule, ...written]);
        const { status } = await other.request('DELETE', `${rules()}/${rule}`, token);
        expect(status).to.equal(200);
        expect(await report(other, 'timeout of db', 'a.ts')).to.equal(before);
        await waitUntil('the rule gone here', async () => (await report(here(), 'timeout of db', 'a.ts')) === before);
      });
    });
  }
});

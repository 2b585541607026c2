/**
 * Contract 21, intake and grouping, against the listening service; grouping's own cases are in
 * plugins/bugs/grouping.
 */
import { expect } from 'chai';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Connection } from '../../adapters/sqlite/connection/connection.js';
import { restoreBody } from '../../adapters/sqlite/stored-body.js';
import type { OccurrenceDoc } from '../../plugins/bugs/item/occurrence-documents.js';
import { Tracker } from './tracker.js';
import { codeOf, expectError, type Wire } from './wire.js';

const ANSWER =
  'id ref created ignored ignore_rule_id dedup_key title severity urgency item_status hit_count hour_count regression sampled';
type Result = Record<string, unknown> & { error?: { code: string; message: string; fields?: object } };

/**
 * Every kept payload, decompressed, and the texts of items: what the bytes of the file do not show.
 */
function payloadsIn(path: string): string[] {
  const connection = new Connection({ path, durability: 'full' });
  try {
    const rows = ['bugs_occurrences', 'bugs_texts'].flatMap((table) =>
      connection.prepare(`SELECT body FROM ${table}`).all([]),
    );
    const docs = rows.map(([body]) => JSON.parse(restoreBody(String(body))) as Pick<OccurrenceDoc, 'stack_trace'>);
    return docs.map((doc) => `${JSON.stringify(doc)}${doc.stack_trace}`);
  } finally {
    connection.close();
  }
}

describe('conformance: error stream', function () {
  let tracker: Tracker;
  before(async () => {
    tracker = await Tracker.started();
  });
  after(() => tracker.dispose());

  const resultsOf = (answer: Wire): Result[] => answer.json['results'] as Result[];
  const idOf = ({ json }: Wire): string => String(json['id']);

  describe('intake', () => {
    it('returns 201 for the first and 200 for repeated reports, with every field', async () => {
      const error = tracker.error({
        exception_class: 'App\\Db\\QueryError',
        error_message: `One ${tracker.word()}\ntwo`,
      });
      const first = await tracker.throws(error);
      expect(first.status).to.equal(201);
      expect(first.json).to.include.all.keys(...ANSWER.split(' '));
      expect(first.json).to.include({
        created: true,
        ignored: false,
        ignore_rule_id: null,
        hit_count: 1,
        hour_count: 1,
      });
      expect(first.json).to.include({ severity: 'high', urgency: 'high', regression: false, sampled: true });
      expect(first.json['title']).to.match(/^QueryError: One \w+$/);
      expect(first.json['dedup_key']).to.match(/^v2:[0-9a-f]{40}$/);
      const second = await tracker.throws(error);
      expect(second.status).to.equal(200);
      expect(second.json).to.include({ created: false, hit_count: 2, id: first.json['id'] });
    });

    const urgencies: [string, string | null, string][] = [
      ['fatal', 'prod', 'critical'],
      ['fatal', 'dev', 'high'],
      ['error', null, 'high'],
      ['error', 'Staging', 'medium'],
      ['warning', 'production', 'medium'],
      ['warning', 'qa', 'low'],
    ];
    for (const [error_level, environment, urgency] of urgencies) {
      it(`assigns ${error_level} in ${environment ?? 'no environment'} the urgency ${urgency}`, async () => {
        const { json } = await tracker.throws(tracker.error({ error_level, environment }));
        expect(json).to.include({ urgency, severity: urgency });
      });
    }

    it('accepts field aliases', async () => {
      const { json } = await tracker.throws(tracker.error({ file_path: 'src/a.ts', line_no: 7, release: '3.1' }));
      const item = await tracker.shown(String(json['id']));
      expect(item).to.include({ file_path: 'src/a.ts', line_no: 7, app_version: '3.1', source: 'app', type: 'error' });
    });

    it('lets an intake key report only for its project', async () => {
      expect((await tracker.throws(tracker.error(), 'key')).status).to.equal(201);
      for (const who of ['key', 'bound'] as const)
        expectError(await tracker.throws(tracker.error({ project: 'beta' }), who), 403, 'insufficient_scope');
      for (const path of ['/bugs', '/projects'])
        expectError(await tracker.call('key', 'GET', path), 403, 'insufficient_scope');
      expectError(await tracker.throws(tracker.error(), 'reader'), 403, 'insufficient_scope');
      expectError(await tracker.throws(tracker.error(), 'nobody'), 401, 'unauthorized');
      const results = resultsOf(await tracker.throws([tracker.error(), tracker.error({ project: 'beta' })], 'key'));
      expect([results[0]?.['created'], results[1]?.error?.code]).to.deep.equal([true, 'insufficient_scope']);
    });

    const packers = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
    for (const [encoding, pack] of Object.entries(packers)) {
      it(`accepts ${encoding}, and rejects invalid and oversized bodies`, async () => {
        const send = (raw: Uint8Array): Promise<Wire> =>
          tracker.throws(undefined, 'reporter', { raw, headers: { 'content-encoding': encoding } });
        const whole = pack(JSON.stringify(tracker.error()));
        expect((await send(whole)).status).to.equal(201);
        expect((await send(Buffer.from('garbage'))).status).to.equal(400);
        expect((await send(whole.subarray(0, whole.length - 6))).status).to.equal(400);
        expectError(await send(pack(Buffer.alloc(9 << 20, 32))), 413, 'payload_too_large');
      });
    }

    it('returns 415 for another encoding or type, and 400 for invalid JSON', async () => {
      const send = (raw: string, headers: Record<string, string>): Promise<Wire> =>
        tracker.throws(undefined, 'reporter', { raw, headers });
      expectError(await send('{}', { 'content-encoding': 'zstd' }), 415, 'unsupported_media_type');
      expectError(
        await send('a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
        415,
        'unsupported_media_type',
      );
      expectError(await send('{', {}), 400, 'invalid_json');
    });
  });

  describe('groups', () => {
    it('groups an error without a file with the first file’s group, and separates another file', async () => {
      const origins = (): object[] => {
        const error = tracker.error();
        return [error, { ...error, file: 'cart.ts' }, { ...error, file: 'checkout.ts' }, error];
      };
      const single: string[] = [];
      for (const error of origins()) single.push(idOf(await tracker.throws(error)));
      const listed = resultsOf(await tracker.throws(origins())).map(({ id }) => String(id));
      for (const ids of [single, listed]) expect(ids.map((id) => ids.indexOf(id) + 1)).to.deep.equal([1, 1, 3, 1]);
    });

    it('groups the same error with and without a stack, even in parallel', async () => {
      const error = tracker.error();
      const stack_trace = 'Error: It broke\n    at pay (/srv/app/src/pay.js:12:3)';
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => tracker.throws(i % 2 === 0 ? error : { ...error, stack_trace })),
      );
      expect(new Set(answers.map(idOf)).size).to.equal(1);
      expect((await tracker.shown(idOf(answers[0] as Wire))).hit_count).to.equal(20);
    });

    it('updates the counters for an occurrence, but not the revision', async () => {
      const error = tracker.error();
      const { id, rev } = await tracker.shown(idOf(await tracker.throws(error)));
      await tracker.throws(error);
      expect(await tracker.shown(id)).to.include({ rev, hit_count: 2 });
    });

    it('raises 100 hits an hour to at least high, and stores 5 full and 45 reduced payloads', async () => {
      const error = tracker.error({ error_level: 'warning' });
      const list = Array.from({ length: 99 }, (_, n) => ({ ...error, context: { n } }));
      expect(resultsOf(await tracker.throws(list)).at(-1)).to.include({ severity: 'medium', hit_count: 99 });
      const { json } = await tracker.throws(error);
      expect(json).to.include({ severity: 'high', hour_count: 100 });
      const kept = await tracker.call('reader', 'GET', `/bugs/${String(json['id'])}/occurrences?limit=200`);
      const contexts = (kept.json['items'] as { context: { n: number } | null }[]).map(({ context }) => context?.n);
      expect(contexts).to.have.length(50);
      expect(contexts).to.include.members([0, 1, 2, 3, 4]);
    });

    it('raises the severity for a higher level, never lowers it, and leaves a locked severity unchanged', async () => {
      const error = tracker.error({ error_level: 'warning' });
      const id = idOf(await tracker.throws(error));
      expect((await tracker.throws({ ...error, error_level: 'fatal', environment: 'dev' })).json['severity']).to.equal(
        'high',
      );
      expect((await tracker.throws(error)).json['severity']).to.equal('high');
      await tracker.patch(id, { severity: 'low' });
      expect((await tracker.throws({ ...error, error_level: 'fatal' })).json['severity']).to.equal('low');
    });

    const cases: [string, object, object, object][] = [
      [
        'the fixed version',
        { resolved_in_build: '2.0' },
        { app_version: '2.0.0' },
        { status: 'open', regression_count: 1, late_count: 0 },
      ],
      [
        'a later version',
        { resolved_in_build: '2.9' },
        { app_version: '2.10' },
        { status: 'open', regression_count: 1, late_count: 0 },
      ],
      [
        'an older version',
        { resolved_in_build: '2.10' },
        { app_version: '2.9' },
        { status: 'resolved', regression_count: 0, late_count: 1 },
      ],
      ['no version', { resolved_in_build: '2.0' }, {}, { status: 'resolved', regression_count: 0, late_count: 1 }],
      [
        'text for a version',
        { resolved_in_build: '2.0' },
        { app_version: 'not one!' },
        { status: 'resolved', regression_count: 0, late_count: 1 },
      ],
      ['a minute’s grace', {}, { app_version: '9.9' }, { status: 'resolved', regression_count: 0, late_count: 0 }],
    ];
    for (const [what, fix, occurrence, expected] of cases) {
      it(`handles an occurrence after a fix: ${what}`, async () => {
        const error = tracker.error();
        const id = idOf(await tracker.throws(error));
        await tracker.patch(id, { status: 'resolved', ...fix });
        const { json } = await tracker.throws({ ...error, ...occurrence });
        const item = await tracker.shown(id);
        expect(item).to.include({ ...expected, hit_count: 2 });
        expect(json['regression']).to.equal(item.status === 'open');
        expect(item.severity).to.equal(item.status === 'open' ? 'critical' : 'high');
      });
    }
  });

  it('writes no secrets to disk on either intake route', async () => {
    const planted: string[] = [];
    const secret = (): string => {
      const made = `S3cr3t${tracker.word()}q`;
      planted.push(made);
      return made;
    };
    const forms: (() => string)[] = [
      () => `Authorization: Bearer ${secret()}`,
      () => `password=${secret()}`,
      () => `{"password":"${secret()}"}`,
      () => `api_key: '${secret()}'`,
      () => `postgres://app:${secret()}@db/x`,
      () => `-----BEGIN RSA PRIVATE KEY-----\n${secret()}\n-----END RSA PRIVATE KEY-----`,
      () => `svc_live_${secret()}${secret()}`,
      () => `Cookie: sid=${secret()}`,
      () => `<password>${secret()}</password>`,
      () => `mysql --password ${secret()}`,
    ];
    const texts = [
      'error_message',
      'stack_trace',
      'exception_class',
      'file',
      'environment',
      'app_version',
      'commit_sha',
      'repo_url',
      'host',
      'client_ref',
    ];
    const reports: object[] = [];
    for (const form of forms) {
      for (const field of texts) reports.push(tracker.error({ [field]: form() }));
      const context = { note: form(), deep: [{ [form()]: 1 }], password: secret(), headers: { Cookie: secret() } };
      reports.push(tracker.error({ tags: [form()], context, breadcrumbs: [{ message: form() }, form()] }));
      // As Sentry's SDKs write requests, users and what led there; large enough to be compressed.
      const request = {
        headers: { Authorization: `Bearer ${secret()}`, 'X-Api-Key': secret(), referer: `https://u:${secret()}@x.io/` },
        cookies: { session: secret() },
        query_string: [['access_token', secret()]],
        data: { card: '4111 1111 1111 1111', nested: { passwd: secret(), text: form() } },
        env: { AWS_SECRET_ACCESS_KEY: secret() },
      };
      const crumbs = [{ category: 'http', data: { url: `https://x.io/?token=${secret()}`, 'set-cookie': secret() } }];
      reports.push(
        tracker.error({
          stack_trace: `${'    at load (/srv/app/a.ts:1:2)\n'.repeat(500)}${form()}`,
          context: {
            request,
            user: { password: secret() },
            extra: { list: [form(), { name: 'Cookie', value: secret() }] },
          },
          breadcrumbs: crumbs,
          fingerprint: [form(), '{{ default }}'],
        }),
      );
    }
    for (let i = 0; i < reports.length; i += 100) {
      const answer = await tracker.throws(reports.slice(i, i + 100));
      expect(
        resultsOf(answer).every(({ error }) => error === undefined),
        answer.text,
      ).to.equal(true);
    }
    const fields = ['title', 'description', 'error_message', 'target_agent', 'client_ref'];
    await Promise.all(
      forms.flatMap((form) =>
        fields.map(async (field) => {
          const body = { project: 'beta', title: `It ${tracker.word()}`, [field]: form(), tags: [form()] };
          const answer = await tracker.call('reporter', 'POST', '/report', body);
          expect([200, 201], String(codeOf(answer))).to.include(answer.status);
        }),
      ),
    );
    // Stopped: a file that is closed after reading would take the store's locks of this process
    // with it.
    await tracker.service.stop();
    const folder = tracker.service.dataDir;
    const names = (await readdir(folder)).filter((name) => name.startsWith('aos.db'));
    const stored = (await Promise.all(names.map((name) => readFile(join(folder, name), 'latin1')))).join('');
    const payloads = payloadsIn(join(folder, 'aos.db'));
    await tracker.service.startInProcess();
    expect(payloads.filter((payload) => payload.includes('(/srv/app/a.ts:1:2)'))).to.have.lengthOf(forms.length);
    expect(stored).to.include('It broke');
    const found = (made: string): boolean =>
      stored.includes(made) || payloads.some((payload) => payload.includes(made));
    expect(planted.filter(found)).to.deep.equal([]);
    expect(payloads.filter((payload) => payload.includes('4111 1111'))).to.deep.equal([]);
  });
});

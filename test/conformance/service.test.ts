/**
 * Contracts 00, 10, 15 and 95, sentence by sentence, against the listening program. What other
 * suites pin on parts is here only where the whole could differ: the wire, the order of checks, the
 * table of routes, the command line.
 */
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { gzipSync } from 'node:zlib';
import { ADMIN_ACCOUNT, runCliJson, SHARED_KEY, TestService } from '../support/service.js';
import { ask, Browser, bytes, codeOf, createUsers, expectError, PASSWORD, type Wire } from './wire.js';

const PROJECTS = '/api/projects/v1/projects';
const BUGS = '/api/bugtracker/v1/bugs';
/** Logs of OpenTelemetry, which an intake key may send. */
const OTLP = /^\/v1\/(logs|traces|metrics)$/;
const REPORT = '/api/errors/v1/report';
/** Intake keys open these too; `x` is no project's number. */
/** Without the envelope, errors included (contract 50). */
const BARE = /^\/api\/license\/v1\/(validate|deactivate|file|pubkey)$/;
const SENTRY = /^\/api\/x\/(?:envelope|store)\/?$/;
const SELF = '/api/tokens/v1/self';
const PROVISION = '/api/tokens/v1/provision';
const SCOPES =
  'bugtracker:report,bugtracker:read,bugtracker:manage,projects:manage,watchdog:ping,webhooks:manage,watchdog:manage';

interface Description {
  paths: Record<string, Record<string, { security?: Record<string, string[]>[]; operationId: string }>>;
}

describe('conformance: the running service', () => {
  let service: TestService;
  let master: string;
  let bound: string;
  let watchdog: string;
  let intake: { id: string; key: string; dsn: string };
  let description: Description;

  before(async () => {
    // The suite asks for many 401 answers; how many are allowed is limits.test.ts's question.
    service = await TestService.createInProcess({ SVC_LIMITS__AUTH_FAILURES_PER_MINUTE: '0' });
    const create = (...words: string[]): Promise<{ token: string }> =>
      service.runCommand(['token', 'create', '--name', 'conformance', ...words]);
    master = (await create('--scopes', SCOPES)).token;
    await ask(service, 'POST', PROJECTS, { token: master, body: { slug: 'shop' } });
    bound = (await create('--scopes', SCOPES, '--project', 'shop')).token;
    watchdog = (await create('--scopes', 'watchdog:ping', '--source', 'host-1')).token;
    intake = await service.runCommand(['project', 'intake-key', 'shop']);
    await createUsers(service, [
      ['mem', 'member'],
      ['inst', 'installer'],
    ]);
    description = (await ask(service, 'GET', '/api/openapi.json')).json as unknown as Description;
  });
  after(() => service.dispose());

  describe('route table', () => {
    it('is a valid OpenAPI 3.1 document for a public validator', async () => {
      const validator = new Validator();
      const { valid, errors } = await validator.validate(structuredClone(description) as never);
      expect(valid, JSON.stringify(errors)).to.equal(true);
      expect(validator.version).to.equal('3.1');
    });

    it('declares the access of every operation, with unique operation ids', () => {
      const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
      );
      for (const { path, method, operation } of operations)
        expect(operation.security, `${method} ${path}`).to.be.an('array');
      expect(new Set(operations.map(({ operation }) => operation.operationId))).to.have.lengthOf(operations.length);
      const open = operations.filter(({ operation }) => operation.security?.length === 0).map(({ path }) => path);
      expect(open).to.include.members(['/api/health/live', '/api/health/ready']);
      for (const path of open)
        expect(path).to.match(
          /^\/(api\/(health|license|updateservice|setup|push|bugtracker\/v1\/forges)\/|ping\/|badge\/)/,
        );
    });

    it('requires a credential for all other operations, and denies setup tokens and unrelated scopes', async () => {
      for (const [path, methods] of Object.entries(description.paths)) {
        for (const [method, { security }] of Object.entries(methods)) {
          if (security?.length === 0) continue;
          const at = path.replace(/\{[^}]+\}/g, 'x');
          const none = await ask(service, method.toUpperCase(), at);
          if (BARE.test(at)) expect([none.status, none.json['status']], at).to.deep.equal([401, 'unauthorized']);
          else expectError(none, 401, 'unauthorized');
          const basic = security?.some((one) => 'basic' in one) ?? false;
          expect(none.headers.get('www-authenticate'), at).to.match(basic ? /^Basic/ : /^Bearer/);
          const cookie = await ask(service, method.toUpperCase(), at, { token: intake.key });
          if (BARE.test(at) || basic) expect(cookie.status, at).to.equal(401);
          else if (at !== REPORT && !OTLP.test(at) && !SENTRY.test(at)) expectError(cookie, 403, 'insufficient_scope');
        }
      }
    });

    it('returns 405 with Allow before any 401, for every path', async () => {
      for (const path of Object.keys(description.paths)) {
        const answer = await ask(service, 'PURGE', path.replace(/\{[^}]+\}/g, 'x'), { token: 'nonsense' });
        if (!BARE.test(path)) expectError(answer, 405, 'method_not_allowed');
        const allowed = (answer.headers.get('allow') ?? '').split(', ');
        expect(allowed, path).to.include.members(
          Object.keys(description.paths[path] ?? {}).map((m) => m.toUpperCase()),
        );
      }
    });
  });

  describe('invalid requests', () => {
    it('returns 404 in the envelope for an unknown path below /api/, with any credential', async () => {
      for (const path of ['/api', '/api/', '/api/nope', '/api//health', '/api/health/nope/x']) {
        for (const token of [null, 'nonsense', master, SHARED_KEY])
          expectError(await ask(service, 'GET', path, { token, headers: { accept: 'text/html' } }), 404, 'not_found');
      }
    });

    it('returns the envelope with a request id for bytes that are not a request', async () => {
      const bad = '400 Bad Request';
      for (const [head, status] of [
        ['GARBAGE\r\n\r\n', bad],
        ['GET /api/health/live HTTP/1.1\r\n\r\n', bad],
        ['GET /api/health/live HTTP/1.1\r\nX-Request-Id: short\r\n\r\n', bad],
        ['GET /api/health/live HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\n\r\n', bad],
        [
          `GET /api/health/live HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(40_000)}\r\n\r\n`,
          '431 Request Header Fields Too Large',
        ],
        ['GET http://[bad/api/x HTTP/1.1\r\nHost: x\r\n\r\n', bad],
        ['GET /api/projects/v1/projects/%zz HTTP/1.1\r\nHost: x\r\n\r\n', bad],
      ] as const) {
        const text = await bytes(service, [head]);
        expect(text.split('\r\n')[0], head.slice(0, 60)).to.equal(`HTTP/1.1 ${status}`);
        expect(text).to.match(/^x-request-id: [\w.-]{8,64}\r$/im);
        const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n'))) as Record<string, unknown>;
        expect(body['status']).to.equal('error');
        expect(codeOf({ json: body })).to.equal('invalid_request');
      }
    });

    it('returns the caller’s X-Request-Id when it is valid, even for invalid requests', async () => {
      for (const [given, taken] of [
        ['abc.DEF_1-', true],
        ['a'.repeat(64), true],
        ['short', false],
        ['a'.repeat(65), false],
        ['has blank', false],
      ] as const) {
        const { headers } = await ask(service, 'GET', '/api/nope', { headers: { 'x-request-id': given } });
        const id = headers.get('x-request-id') ?? '';
        expect(id === given, given).to.equal(taken);
        expect(id).to.match(/^[\w.-]{8,64}$/);
      }
      const text = await bytes(service, ['GET / HTTP/1.1\r\nX-Request-Id: my-own-id.1\r\n\r\n']);
      expect(text)
        .to.include('my-own-id.1')
        .and.to.match(/"request_id":"my-own-id\.1"/);
    });

    it('returns 413 for an oversized chunked body without resetting the connection', async () => {
      const head = `POST ${PROJECTS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${master}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      const text = await bytes(service, [head, ...Array.from({ length: 40 }, () => chunk), '0\r\n\r\n']);
      expect(text.split('\r\n')[0]).to.equal('HTTP/1.1 413 Payload Too Large');
      expect(text).to.include('"payload_too_large"');
    });

    it('stops a gzip bomb while inflating, and applies the limit to compressed bytes', async () => {
      const gzip = { 'content-encoding': 'gzip' };
      const bomb = await ask(service, 'POST', REPORT, {
        token: intake.key,
        raw: gzipSync(Buffer.alloc(60e6, 32)),
        headers: gzip,
      });
      expectError(bomb, 413, 'payload_too_large');
      const wire = await ask(service, 'POST', REPORT, { token: intake.key, raw: Buffer.alloc(1_048_577, 32) });
      expectError(wire, 413, 'payload_too_large');
      const broken = await ask(service, 'POST', REPORT, { token: intake.key, raw: 'no gzip', headers: gzip });
      expectError(broken, 400, 'invalid_request');
      const unknown = await ask(service, 'POST', REPORT, {
        token: intake.key,
        raw: 'x',
        headers: { 'content-encoding': 'zstd' },
      });
      expectError(unknown, 415, 'unsupported_media_type');
    });

    for (const [name, raw, status, code] of [
      ['bad JSON', '{"slug"', 400, 'invalid_json'],
      ['bad UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 400, 'invalid_json'],
      ['deep JSON', `{"slug":"deep","x":${'['.repeat(5000)}${']'.repeat(5000)}}`, 400, 'invalid_json'],
      ['an array', '[]', 400, 'invalid_json'],
      ['a string', '"x"', 400, 'invalid_json'],
      ['null', 'null', 400, 'invalid_json'],
      ['nothing', '', 400, 'invalid_json'],
      ['a wrong field', '{"slug":"Not A Slug"}', 422, 'validation_failed'],
    ] as const) {
      it(`rejects ${name} as a body with ${status} ${code}`, async () => {
        expectError(await ask(service, 'POST', PROJECTS, { token: master, raw }), status, code);
      });
    }

    it('rejects an invalid body even where a body is optional, and changes nothing', async () => {
      for (const raw of ['{bad', '[]', '"x"']) {
        const answer = await ask(service, 'POST', `${PROJECTS}/shop/archive`, { token: master, raw });
        expectError(answer, 400, 'invalid_json');
      }
      const { json } = await ask(service, 'GET', `${PROJECTS}/shop`, { token: master });
      expect((json['project'] as Record<string, unknown>)['archived']).to.equal(false);
    });

    it('ignores unknown fields in a body, including `__proto__` and `constructor`', async () => {
      const raw = '{"slug":"proto","__proto__":{"a":1},"constructor":{"prototype":{"x":1}},"zzz":1}';
      expect((await ask(service, 'POST', PROJECTS, { token: master, raw })).status).to.equal(201);
    });

    it('rejects other media types with 415', async () => {
      const headers = { 'content-type': 'text/plain' };
      expectError(
        await ask(service, 'POST', PROJECTS, { token: master, raw: '{}', headers }),
        415,
        'unsupported_media_type',
      );
    });
  });

  describe('lists', () => {
    for (const list of [PROJECTS, BUGS, `${PROJECTS}/shop/intake-keys`]) {
      it(`${list}: returns pages, and rejects unknown parameters`, async () => {
        for (const query of [
          'limit=0',
          'limit=201',
          'limit=x',
          'limit=1&limit=2',
          'nope=1',
          '__proto__=1',
          'constructor=1',
          'include_total=maybe',
        ]) {
          const answer = await ask(service, 'GET', `${list}?${query}`, { token: master });
          expectError(answer, 400, 'invalid_request');
          const { fields } = answer.json['error'] as { fields: object };
          expect(Object.keys(fields), query).to.deep.equal([query.slice(0, query.indexOf('='))]);
        }
        for (const cursor of ['zz', 'WyJ4Il0', encodeURIComponent('{"a":1}')])
          expectError(await ask(service, 'GET', `${list}?cursor=${cursor}`, { token: master }), 400, 'invalid_cursor');
        const { status, json } = await ask(service, 'GET', `${list}?limit=1&include_total=true`, { token: master });
        expect(status).to.equal(200);
        expect(json).to.have.all.keys('status', 'items', 'next_cursor', 'has_more', 'total');
      });
    }

    it('returns each intake key of a project once', async () => {
      for (let n = 0; n < 4; n++)
        expect((await ask(service, 'POST', `${PROJECTS}/proto/intake-keys`, { token: master })).status).to.equal(201);
      const seen: unknown[] = [];
      let cursor: string | null = null;
      do {
        const query = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { json }: Wire = await ask(service, 'GET', `${PROJECTS}/proto/intake-keys?limit=3${query}`, {
          token: master,
        });
        seen.push(...(json['items'] as { id: string }[]).map(({ id }) => id));
        cursor = json['next_cursor'] as string | null;
        expect(json['has_more']).to.equal(cursor !== null);
      } while (cursor !== null);
      expect(new Set(seen)).to.have.lengthOf(4);
      expect(seen).to.have.lengthOf(4);
    });

    it('rejects the cursor of another list', async () => {
      await ask(service, 'POST', PROJECTS, { token: master, body: { slug: 'second' } });
      const { json } = await ask(service, 'GET', `${PROJECTS}?limit=1`, { token: master });
      const cursor = encodeURIComponent(String(json['next_cursor']));
      expectError(await ask(service, 'GET', `${BUGS}?cursor=${cursor}`, { token: master }), 400, 'invalid_cursor');
    });
  });

  describe('credentials', () => {
    it('ignores Authorization where none is required, and never accepts the session cookie below /api/', async () => {
      expect((await ask(service, 'GET', '/api/health/live', { token: 'nonsense' })).status).to.equal(200);
      const browser = new Browser(service);
      await browser.login(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
      for (const path of [PROJECTS, BUGS, '/api/health', SELF, '/metrics'])
        expectError(await browser.open('GET', path, undefined, { accept: 'application/json' }), 401, 'unauthorized');
    });

    it('rejects Basic, empty and overlong credentials', async () => {
      for (const authorization of [
        'Basic YTpi',
        'Bearer',
        'Bearer ',
        `Bearer ${'a'.repeat(2000)}`,
        `bearer ${master}x`,
      ])
        expectError(await ask(service, 'GET', SELF, { headers: { authorization } }), 401, 'unauthorized');
    });

    it('rejects the shared key where only tokens are accepted, and vice versa', async () => {
      for (const [method, path] of [
        ['GET', PROJECTS],
        ['GET', BUGS],
        ['GET', SELF],
        ['POST', PROVISION],
        ['POST', REPORT],
      ] as const)
        expectError(
          await ask(service, method, path, { token: SHARED_KEY, ...(method === 'POST' && { body: {} }) }),
          403,
          'insufficient_scope',
        );
      for (const token of [master, bound, watchdog, intake.key])
        expectError(await ask(service, 'POST', '/api/admin/v1/migrate', { token }), 403, 'insufficient_scope');
      expectError(
        await ask(service, 'POST', '/api/admin/v1/migrate', { token: `${SHARED_KEY}x` }),
        401,
        'unauthorized',
      );
    });

    it('provisions sub-tokens with limited scopes and lifetime', async () => {
      const provision = (token: string, body: object) => ask(service, 'POST', PROVISION, { token, body });
      const made = await provision(master, { name: 'sub', scopes: ['projects:read'] });
      expect(made.status).to.equal(201);
      expect(made.json).to.have.all.keys('status', 'token', 'id', 'scopes', 'expires_at');
      const sub = made.json['token'] as string;
      expect(sub).to.match(/^svc_sub_[0-9A-Za-z]{43}$/);
      const life = Date.parse(made.json['expires_at'] as string) - Date.now();
      expect(life).to.be.within(86_300_000, 86_400_000);
      expect((await provision(master, { name: 'all' })).json['scopes']).to.deep.equal(SCOPES.split(','));
      expectError(await provision(master, { name: 'x', scopes: ['license:read'] }), 403, 'insufficient_scope');
      expectError(await provision(master, { name: 'x', scopes: ['no:such'] }), 422, 'validation_failed');
      expectError(
        await provision(master, { name: 'x', expires_in_seconds: 90 * 86_400 + 1 }),
        422,
        'validation_failed',
      );
      for (const token of [sub, watchdog, intake.key])
        expectError(await provision(token, { name: 'x' }), 403, 'insufficient_scope');
      for (const token of [master, watchdog, SHARED_KEY])
        expectError(await ask(service, 'DELETE', SELF, { token }), 403, 'insufficient_scope');
      const own = await ask(service, 'GET', SELF, { token: sub });
      expect(Object.keys(own.json).join(' ')).to.equal(
        'status id name kind prefix scopes project source agent parent_id created_by created_at expires_at last_used_at revoked_at',
      );
      expect(own.json['prefix']).to.equal(sub.slice(0, 12));
      expect((await ask(service, 'DELETE', SELF, { token: sub })).json).to.deep.equal({
        status: 'success',
        deleted: true,
      });
      expectError(await ask(service, 'GET', SELF, { token: sub }), 401, 'unauthorized');
    });

    it('limits a token and its sub-tokens to the token’s project', async () => {
      const sub = (await ask(service, 'POST', PROVISION, { token: bound, body: { name: 'sub' } })).json[
        'token'
      ] as string;
      const widened = await ask(service, 'POST', PROVISION, { token: bound, body: { name: 'x', project: 'proto' } });
      expectError(widened, 403, 'insufficient_scope');
      for (const token of [bound, sub]) {
        const { json } = await ask(service, 'GET', PROJECTS, { token });
        expect((json['items'] as { slug: string }[]).map(({ slug }) => slug)).to.deep.equal(['shop']);
        for (const [method, path, body] of [
          ['GET', `${PROJECTS}/proto`, undefined],
          ['PATCH', `${PROJECTS}/proto`, { name: 'mine' }],
          ['DELETE', `${PROJECTS}/proto`, undefined],
          ['POST', `${PROJECTS}/proto/archive`, {}],
          ['POST', `${PROJECTS}/proto/intake-keys`, {}],
          ['GET', `${PROJECTS}/proto/intake-keys`, undefined],
          ['POST', PROJECTS, { slug: 'third' }],
          ['GET', `${BUGS}?project=proto`, undefined],
          ['POST', REPORT, { project: 'proto', error_level: 'error', error_message: 'x' }],
        ] as const)
          expectError(await ask(service, method, path, { token, body }), 403, 'insufficient_scope');
      }
    });
  });

  describe('projects', () => {
    it('returns 404 for writes to a missing slug', async () => {
      for (const [method, path] of [
        ['PATCH', `${PROJECTS}/none`],
        ['DELETE', `${PROJECTS}/none`],
        ['POST', `${PROJECTS}/none/archive`],
        ['POST', `${PROJECTS}/none/unarchive`],
        ['POST', `${PROJECTS}/none/intake-keys`],
        ['DELETE', `${PROJECTS}/shop/intake-keys/none`],
      ] as const)
        expectError(
          await ask(service, method, path, { token: master, ...(method !== 'DELETE' && { body: {} }) }),
          404,
          'not_found',
        );
    });

    it('deletes unused projects, archives those with items, and rejects reports to archived projects', async () => {
      const report = (slug: string) =>
        ask(service, 'POST', REPORT, {
          token: master,
          body: { project: slug, error_level: 'error', error_message: 'boom' },
        });
      expectError(await ask(service, 'POST', PROJECTS, { token: master, body: { slug: 'shop' } }), 409, 'conflict');
      for (const slug of ['used', 'unused']) await ask(service, 'POST', PROJECTS, { token: master, body: { slug } });
      expect((await report('used')).status).to.be.oneOf([200, 201]);
      expectError(await report('nowhere'), 422, 'unknown_project');
      expectError(await ask(service, 'GET', `${PROJECTS}/nowhere`, { token: master }), 404, 'not_found');
      expectError(await ask(service, 'DELETE', `${PROJECTS}/used`, { token: master }), 409, 'conflict');
      expect((await report('used')).status).to.be.oneOf([200, 201]);
      expect((await ask(service, 'DELETE', `${PROJECTS}/unused`, { token: master })).json).to.deep.equal({
        status: 'success',
        deleted: true,
      });
      expectError(await ask(service, 'DELETE', `${PROJECTS}/unused`, { token: master }), 404, 'not_found');
      expect((await ask(service, 'POST', `${PROJECTS}/used/archive`, { token: master })).status).to.equal(200);
      expectError(await report('used'), 422, 'unknown_project');
      expect((await ask(service, 'POST', `${PROJECTS}/used/unarchive`, { token: master })).status).to.equal(200);
      expect((await report('used')).status).to.be.oneOf([200, 201]);
    });

    it('returns intake keys with a DSN of the running service, including on the command line', async () => {
      const { host } = new URL(service.url);
      expect(intake.dsn).to.equal(`http://${intake.key}@${host}/1`);
      const made = await ask(service, 'POST', `${PROJECTS}/shop/intake-keys`, { token: master, body: { name: 'web' } });
      expect(made.json).to.have.all.keys('status', 'id', 'key', 'dsn');
      expect(made.json['dsn']).to.equal(`http://${String(made.json['key'])}@${host}/1`);
    });

    it('lists projects on the command line with every field of the API', async () => {
      const { items } = await runCliJson<{ items: unknown[] }>(service.env, ['project', 'list']);
      expect(items).to.deep.equal((await ask(service, 'GET', PROJECTS, { token: master })).json['items']);
    });

    it('rejects control characters with a description of valid text, without repeating the input', async () => {
      const answer = await ask(service, 'POST', PROJECTS, {
        token: master,
        body: { slug: 'control', name: 'a\u0007b' },
      });
      expectError(answer, 422, 'validation_failed');
      const { fields } = answer.json['error'] as { fields: object };
      expect(fields).to.deep.equal({ name: 'must be free of control characters' });
    });
  });

  describe('operations', () => {
    it('returns other tokens only the overall state, and no Prometheus metrics', async () => {
      const { token: sub } = (await ask(service, 'POST', PROVISION, { token: master, body: { name: 'health' } })).json;
      for (const token of [master, bound, watchdog, String(sub)]) {
        const { status, json } = await ask(service, 'GET', '/api/health', { token });
        expect(status).to.equal(200);
        expect(json).to.have.all.keys('status', 'healthy', 'version', 'schema', 'checks');
        expect(json['checks']).to.deep.equal({ evaluator: { ok: true } });
        expectError(await ask(service, 'GET', '/metrics', { token }), 403, 'insufficient_scope');
      }
    });

    it('returns detailed health to the shared key and to a token with system:read', async () => {
      const create = (...words: string[]): Promise<{ token: string }> =>
        service.runCommand(['token', 'create', '--name', 'inside', '--scopes', 'system:read', ...words]);
      const inside = (await create()).token;
      const insideShop = (await create('--project', 'shop')).token;
      expect((await ask(service, 'GET', '/metrics', { token: inside })).status).to.equal(200);
      for (const token of [SHARED_KEY, inside, insideShop]) {
        const { status, json } = await ask(service, 'GET', '/api/health', { token });
        expect(status).to.equal(200);
        expect(json).to.have.all.keys('status', 'healthy', 'version', 'time', 'uptime_seconds', 'schema', 'checks');
        expect(json['schema']).to.have.all.keys('current', 'pending');
        const checks = json['checks'] as Record<string, Record<string, unknown>>;
        expect(checks).to.have.all.keys(
          'database',
          'evaluator',
          'jobs',
          'webhooks',
          'release_store',
          'backups',
          'disk',
          'plugins',
          'proxies',
          'clock',
        );
        expect(checks['database']).to.include.keys('ok', 'latency_ms');
        expect(checks['evaluator']).to.include.keys('ok', 'last_run_at', 'age_seconds');
        expect(checks['webhooks']).to.include.keys('ok', 'queued', 'oldest_age_seconds', 'disabled');
        expect(checks['release_store']).to.include.keys('ok', 'protection', 'last_selftest_at');
        expect(checks['disk']).to.include.keys('ok', 'free_bytes');
        for (const plugin of Object.values(checks['plugins'] ?? {})) {
          expect(plugin).to.include.keys('ok', 'state', 'reason');
          // What else a plugin says of itself may name what belongs to others.
          if (token === insideShop) expect(plugin).to.have.all.keys('ok', 'state', 'reason');
        }
      }
      expectError(await ask(service, 'GET', '/api/health', { token: intake.key }), 403, 'insufficient_scope');
      const head = await ask(service, 'HEAD', '/api/health', { token: SHARED_KEY });
      expect([head.status, head.text]).to.deep.equal([200, '']);
      const metrics = await ask(service, 'GET', '/metrics', { token: SHARED_KEY });
      expect(metrics.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
    });

    it('migrates at both endpoints for the shared key, and for an admin session only by POST', async () => {
      for (const [method, path] of [
        ['GET', '/install_db.php'],
        ['POST', '/install_db.php'],
        ['POST', '/api/admin/v1/migrate'],
      ] as const) {
        const { status, json } = await ask(service, method, path, { token: SHARED_KEY });
        expect(status).to.equal(200);
        expect(json).to.deep.equal({ status: 'success', applied: [], pending: [] });
        expectError(await ask(service, method, path), 401, 'unauthorized');
      }
      const [admin, member] = [new Browser(service), new Browser(service)];
      await admin.login(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
      await member.login('mem', PASSWORD);
      const csrf_token = await admin.csrf('/account');
      for (const method of ['GET', 'HEAD']) {
        const shown = await admin.open(method, '/install_db.php');
        expect([shown.status, shown.headers.get('location')], method).to.deep.equal([303, '/migrations']);
      }
      for (const path of ['/install_db.php', '/api/admin/v1/migrate']) {
        expectError(await admin.open('POST', path), 403, 'csrf_failed');
        expectError(await admin.open('POST', path, { csrf_token: 'wrong' }), 403, 'csrf_failed');
        expect((await admin.open('POST', path, { csrf_token })).json).to.deep.equal({
          status: 'success',
          applied: [],
          pending: [],
        });
        expect((await admin.open('POST', path, undefined, { 'x-csrf-token': csrf_token })).status).to.equal(200);
        expectError(await member.open('POST', path), 403, 'csrf_failed');
        const csrf = await member.csrf('/account');
        expectError(await member.open('POST', path, { csrf_token: csrf }), 403, 'role_not_allowed');
      }
    });
  });

  describe('web session', () => {
    it('shows the login form again without a form token, for a wrong password and for an installer account', async () => {
      const browser = new Browser(service);
      for (const [form, status] of [
        [{ username: 'admin', password: 'x' }, 403],
        [{ username: 'admin', password: 'x', csrf_token: 'stale' }, 403],
        [{ username: 'nobody', password: 'x', csrf_token: await browser.csrf('/login') }, 401],
        [{ username: 'inst', password: PASSWORD, csrf_token: await browser.csrf('/login') }, 403],
      ] as const) {
        const answer = await browser.open('POST', '/login', { ...form });
        expect(answer.status, answer.text).to.equal(status);
        expect(answer.text)
          .to.include('name="password"')
          .and.to.match(/name="csrf_token" value="[^"]+"/);
        expect(browser.cookies.has('svc_session')).to.equal(false);
      }
    });

    it('sets an HttpOnly, SameSite=Lax cookie, renews the session id at login, and ends it at logout', async () => {
      const browser = new Browser(service);
      expect((await browser.login('MEM', PASSWORD)).status).to.equal(303);
      expect(browser.attributes.get('svc_session')).to.equal('Path=/; Max-Age=604800; HttpOnly; SameSite=Lax');
      const first = browser.cookies.get('svc_session');
      const csrf_token = await browser.csrf('/account');
      const again = await browser.open('POST', '/login', { csrf_token, username: 'mem', password: PASSWORD });
      expect(again.status).to.equal(303);
      const second = browser.cookies.get('svc_session') ?? '';
      expect(second).to.not.equal(first);
      const old = new Browser(service);
      old.cookies.set('svc_session', first ?? '');
      expect((await old.open('GET', '/account')).status).to.equal(303);
      expect((await browser.open('GET', '/logout')).status).to.equal(405);
      await browser.open('POST', '/logout', { csrf_token: await browser.csrf('/account') });
      old.cookies.set('svc_session', second);
      expect((await old.open('GET', '/account')).headers.get('location')).to.match(/^\/login/);
    });
  });
});

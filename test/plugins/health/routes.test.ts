import { expect } from 'chai';
import type { ObjectSchema } from 'joi';
import { Redirect, Reply, type HttpRequest, type RouteSpec, type SharedBytes } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import type { SystemInfo } from '../../../ports/domain/system.js';
import { buildHealthRoutes } from '../../../plugins/health/health-routes.js';
import { fakeSystem, request, session, SHARED, fixtureOf } from './fakes.js';

const NAMES = [
  'database',
  'evaluator',
  'jobs',
  'webhooks',
  'release_store',
  'backups',
  'disk',
  'clock',
  'proxies',
  'plugins',
];

function mounted(more: Partial<SystemInfo> = {}) {
  const all = fixtureOf(fakeSystem(more));
  const table = buildHealthRoutes(all);
  const route = (path: string): RouteSpec => {
    const found = table.find((spec) => spec.path === path);
    if (!found) throw new Error(`no route ${path}`);
    return found;
  };
  const call = async (path: string, more: Partial<HttpRequest> = {}, principal = SHARED): Promise<object> =>
    route(path).handle(request(principal, { path, ...more }));
  return { ...all, route, call };
}

const down = {
  pingStore: () => Promise.reject(new Error('mongodb://secret@host is gone')),
  listMigrations: () => Promise.reject(new Error('gone')),
};
const pending = { listMigrations: () => Promise.resolve({ applied: [], pending: ['bugs:002-b'], current: null }) };

describe('GET /api/health', () => {
  it('matches contract 95 and its API description', async () => {
    const { call, route } = mounted();
    const body = (await call('/api/health')) as Record<string, unknown>;
    expect(body).to.include({ healthy: true, version: '1.2.3', time: '2026-11-20T08:15:30.123Z', uptime_seconds: 30 });
    expect(body['schema']).to.deep.equal({ current: 'bugs:001-a', pending: [] });
    expect(Object.keys(body['checks'] as object)).to.deep.equal(NAMES);
    expect(body['checks']).to.deep.include({
      database: { ok: true, latency_ms: 0.42, processes: 1 },
      evaluator: { ok: true, state: 'not_installed', last_run_at: null, age_seconds: null },
      webhooks: { ok: true, state: 'not_installed', queued: 0, oldest_age_seconds: null, disabled: [] },
      release_store: { ok: true, state: 'not_installed', protection: null, last_selftest_at: null },
      backups: { ok: true, state: 'not_installed', last_at: null, path: null },
      disk: { ok: true, free_bytes: 10 ** 10 },
      clock: { ok: true, ahead_seconds: 0, cleaning_waits_seconds: 0 },
      proxies: { ok: true, unlisted: [], mend: null },
      plugins: { health: { state: 'ready', reason: null, ok: true } },
    });
    expect((route('/api/health').output as ObjectSchema).validate(body).error).to.equal(undefined);
  });

  it('accepts the shared key or any token, but no session', () => {
    expect(mounted().route('/api/health').access).to.deep.equal([{ sharedKey: true }, { anyToken: true }]);
  });

  it('returns 200 when unhealthy, and 503 with strict', async () => {
    const { call } = mounted(pending);
    expect(await call('/api/health')).to.include({ healthy: false });
    const strict = (await call('/api/health', { query: { strict: true } })) as Reply;
    expect(strict).to.be.instanceOf(Reply);
    expect(strict.status).to.equal(503);
    expect(strict.body).to.include({ healthy: false });
    expect(strict.headers['retry-after']).to.equal('30');
  });

  it('returns a plain body when healthy with strict', async () => {
    expect(await mounted().call('/api/health', { query: { strict: true } })).to.include({ healthy: true });
  });

  it('reads strict=1 and rejects strict=maybe', () => {
    const schema = mounted().route('/api/health').input?.query as ObjectSchema;
    expect(schema.validate({ strict: '1' }).value).to.deep.equal({ strict: true });
    expect(schema.validate({ strict: 'maybe' }).error?.message).to.include('strict');
  });

  it('responds when the store is unavailable, without the driver’s error text', async () => {
    const body = (await mounted(down).call('/api/health')) as Record<string, Record<string, unknown>>;
    expect(body).to.include({ healthy: false });
    expect(body['checks']?.['database']).to.deep.equal({ ok: false, latency_ms: null, processes: 1, error: 'Error' });
    expect(JSON.stringify(body)).not.to.include('secret');
  });
});

describe('probes', () => {
  it('live reports only liveness, and ready only readiness', async () => {
    const { call, route } = mounted();
    expect(await call('/api/health/live', {}, { kind: 'public' })).to.deep.equal({ live: true });
    expect(await call('/api/health/ready', {}, { kind: 'public' })).to.deep.equal({ ready: true });
    expect(route('/api/health/live').access).to.equal('public');
    expect(route('/api/health/ready').access).to.equal('public');
  });

  it('ready returns 503 not_ready while the store is unavailable', async () => {
    const error = await mounted(down)
      .call('/api/health/ready')
      .then(
        () => null,
        (thrown: unknown) => thrown as ServiceError,
      );
    expect(error).to.be.instanceOf(ServiceError);
    expect(error).to.include({ code: 'not_ready', status: 503 });
    expect(error?.headers).to.deep.equal({ 'retry-after': '5' });
  });

  it('ready returns 503 while a critical plugin is not ready', async () => {
    const plugins: SystemInfo['listPlugins'] = () => [
      { id: 'access', title: '', version: '', critical: true, decides_health: false, state: 'starting', reason: null },
    ];
    const outcome = await mounted({ listPlugins: plugins })
      .call('/api/health/ready')
      .catch((error: ServiceError) => error.code);
    expect(outcome).to.equal('not_ready');
  });

  it('queries the store once a second, for any number of probes', async () => {
    let requested = 0;
    const { call, clock } = mounted({ pingStore: () => Promise.resolve(++requested) });
    await Promise.all(Array.from({ length: 50 }, () => call('/api/health/ready')));
    expect(requested).to.equal(1);
    clock.ms += 1000;
    await call('/api/health/ready');
    expect(requested).to.equal(2);
  });
});

describe('GET /metrics and /api/openapi.json', () => {
  it('returns Prometheus metrics with a credential only', async () => {
    const { call, route } = mounted();
    const reply = (await call('/metrics')) as Reply;
    expect(reply.body).to.equal('aos_ready 1\n');
    expect(reply.headers['content-type']).to.equal('text/plain; version=0.0.4; charset=utf-8');
    expect(route('/metrics').access).to.deep.equal([{ sharedKey: true }, { scope: 'system:read' }]);
  });

  it('returns the API description to everyone', async () => {
    const { call, route } = mounted();
    const reply = (await call('/api/openapi.json')) as Reply;
    const text = Buffer.concat((reply.body as SharedBytes).parts).toString();
    expect(JSON.parse(text)).to.deep.equal({ openapi: '3.1.0', paths: {} });
    expect(reply.headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(route('/api/openapi.json').access).to.equal('public');
  });
});

describe('migrate', () => {
  const migrate = (): Promise<{ applied: string[]; pending: string[] }> =>
    Promise.resolve({ applied: ['bugs:002-b'], pending: [] });

  it('runs migrations, returns the result, and writes an audit entry', async () => {
    const { call, recorded, route } = mounted({ migrate });
    const body = await call('/api/admin/v1/migrate', { method: 'POST' });
    expect(body).to.deep.equal({ applied: ['bugs:002-b'], pending: [] });
    expect(recorded).to.deep.equal([
      { by: SHARED, action: 'migrations.applied', target: 'memory', details: { count: 1 } },
    ]);
    expect(route('/api/admin/v1/migrate').access).to.deep.equal([{ sharedKey: true }, { session: 'admin' }]);
  });

  it('records nothing when no migration is pending', async () => {
    const { call, recorded } = mounted();
    expect(await call('/api/admin/v1/migrate', { method: 'POST' })).to.deep.equal({ applied: [], pending: [] });
    expect(recorded).to.deep.equal([]);
  });

  it('/install_db.php migrates by GET or POST with the key, and shows the page for a session', async () => {
    const { call } = mounted({ migrate });
    const path = '/install_db.php';
    expect(await call(path)).to.deep.equal({ applied: ['bugs:002-b'], pending: [] });
    const page = await call(path, {}, session('admin'));
    expect(page).to.be.instanceOf(Redirect).and.include({ location: '/migrations' });
    expect(await call(path, { method: 'POST' }, session('admin'))).to.deep.equal({
      applied: ['bugs:002-b'],
      pending: [],
    });
  });

  it('shares a single run between two concurrent calls', async () => {
    let runs = 0;
    const { call } = mounted({ migrate: () => (runs++, migrate()) });
    await Promise.all([call('/api/admin/v1/migrate', { method: 'POST' }), call('/install_db.php')]);
    expect(runs).to.equal(1);
  });
});

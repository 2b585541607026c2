/** Heartbeats, bugs and tokens (contract 90, SDK). */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type Beat, type Client } from '../../../../clients/sdk/index.js';
import { FakeServer, folder, json, page, removeFolder } from '../../../clients/sdk/server.js';

const SDK = new URL('../../../../clients/sdk/index.js', import.meta.url).href;
const error = (code: string): object => ({ status: 'error', error: { code, message: 'No.' } });

describe('sdk: heartbeats, bugs, tokens', function () {
  let server: FakeServer;
  let dir: string;
  let client: Client;
  beforeEach(async () => {
    server = await new FakeServer().start();
    dir = await folder();
    client = createClient({ server: server.url, project: 'shop', token: 't-1', cacheDir: dir, machineId: 'till-7' });
    server.reply = json(200, { status: 'success', source: 'shop', state: 'up' });
  });
  afterEach(async () => {
    await server.stop();
    await removeFolder(dir);
  });

  it('sends one heartbeat, and distinguishes a rejection from a failure', async () => {
    const beat = { source: 'shop', interval: 30, metrics: { queue: 3 }, app_version: '1.2' };
    expect(await client.heartbeat(beat)).to.deep.equal({
      sent: true,
      isTransient: false,
      unauthorized: false,
      state: 'up',
    });
    const [requested] = server.asked;
    expect(requested?.path).to.equal('/api/watchdog/v1/ping');
    expect(requested?.headers['authorization']).to.equal('Bearer t-1');
    expect(requested?.body).to.deep.equal({ status: 'ok', instance_id: 'till-7', ...beat });
    server.reply = json(401, error('unauthorized'));
    expect(await client.heartbeat(beat)).to.include({ sent: false, isTransient: false, unauthorized: true });
    server.reply = page(401, '');
    expect(await client.heartbeat(beat)).to.include({ sent: false, isTransient: true, unauthorized: false });
  });

  it('sends heartbeats on a timer with self-checks and metrics until stopped', async () => {
    const beats: Beat[] = [];
    const running = client.startHeartbeat({
      source: 'shop',
      interval: 0.1,
      app_version: '1.2',
      checks: {
        good: () => true,
        bad: async () => ({ ok: false, message: 'disk full' }),
        thrown: () => {
          throw new Error('no database');
        },
      },
      metrics: () => ({ queue: 3 }),
      onBeat: (beat) => {
        beats.push(beat);
        throw new Error('mean');
      },
    });
    while (beats.length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
    const body = server.asked[1]?.body ?? {};
    expect(body).to.deep.include({ source: 'shop', status: 'ok', interval: 0.1, app_version: '1.2' });
    expect(body['instance_id']).to.equal('till-7');
    expect(body['checks']).to.deep.equal({
      good: { ok: true },
      bad: { ok: false, message: 'disk full' },
      thrown: { ok: false, message: 'no database' },
    });
    const metrics = body['metrics'] as Record<string, number>;
    expect(Object.keys(metrics)).to.have.members([
      'process_memory_bytes',
      'process_heap_bytes',
      'process_cpu_percent',
      'process_event_loop_delay_ms',
      'process_uptime_seconds',
      'queue',
    ]);
    for (const value of Object.values(metrics)) expect(value).to.satisfy(Number.isFinite);
    expect(await running.stop()).to.include({ sent: true });
    expect(server.asked.at(-1)?.body).to.include({ status: 'stopped' });
  });

  it('reports unavailable metrics as a failed check', async () => {
    const running = client.startHeartbeat({
      source: 'shop',
      processMetrics: false,
      metrics: () => Promise.reject(new Error('no gauge')),
    });
    await running.stop();
    expect(server.asked[0]?.body).to.deep.include({
      checks: { metrics: { ok: false, message: 'no gauge' } },
      metrics: {},
    });
  });

  it('rejects an invalid interval', () => {
    for (const interval of [0, -1, Number.NaN, Infinity])
      expect(() => client.startHeartbeat({ source: 'shop', interval })).to.throw(TypeError, 'interval');
  });

  it('does not keep the process alive by its timer, including during a request', async () => {
    server.reply = () => undefined;
    const file = join(dir, 'program.mjs');
    const options = JSON.stringify({
      server: server.url,
      project: 'shop',
      token: 't',
      cacheDir: dir,
      timeoutMs: 60_000,
    });
    await writeFile(
      file,
      `import { createClient } from '${SDK}';\ncreateClient(${options}).startHeartbeat({ source: 'shop', interval: 1 });\nsetTimeout(() => undefined, 500);\n`,
    );
    const child = spawn(process.execPath, [file], { stdio: 'ignore' });
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code).to.equal(0);
    expect(server.asked).to.have.length(1);
  });

  it('keeps the process alive for a caller that awaits the end, including during a heartbeat', async () => {
    server.reply = (requested, response) =>
      void setTimeout(
        () => json(200, { status: 'success', state: requested.body['status'] })(requested, response),
        500,
      );
    const file = join(dir, 'ends.mjs');
    const options = JSON.stringify({ server: server.url, project: 'shop', token: 't-1', cacheDir: dir });
    await writeFile(
      file,
      `import { createClient } from '${SDK}';\nconst { state } = await createClient(${options}).startHeartbeat({ source: 'shop' }).stop();\nprocess.exitCode = state === 'stopped' ? 0 : 1;\n`,
    );
    const child = spawn(process.execPath, [file], { stdio: 'ignore' });
    expect(await once(child, 'close')).to.deep.equal([0, null]);
    expect(server.asked.map(({ body }) => body['status'])).to.deep.equal(['ok', 'stopped']);
  });

  it('reports bugs, with a client_ref for retries', async () => {
    server.reply = json(503, {});
    const failed = await client.reportBug({ title: 'No receipt', type: 'bug' });
    expect(failed).to.include({ reported: false, isTransient: true });
    server.reply = json(201, { status: 'success', id: 'i-1', ref: 'shop-1', created: true, deduplicated: false });
    const made = await client.reportBug({ title: 'No receipt', client_ref: failed.clientRef });
    expect(made).to.include({ reported: true, clientRef: failed.clientRef, ref: 'shop-1', created: true });
    expect(server.asked.at(-1)?.body).to.deep.equal({
      title: 'No receipt',
      project: 'shop',
      client_ref: failed.clientRef,
    });
    server.reply = json(422, error('validation_failed'));
    expect(await client.reportBug({ title: '' })).to.include({ reported: false, isTransient: false });
  });

  it('provisions a token', async () => {
    server.reply = json(201, { status: 'success', token: 'sub', id: 't', scopes: ['watchdog:ping'], expires_at: 'x' });
    const request = { name: 'till 3', scopes: ['watchdog:ping'], expires_in_seconds: 3600 };
    expect(await client.provisionToken(request)).to.include({ token: 'sub', id: 't', expires_at: 'x' });
    expect(server.asked[0]?.body).to.deep.equal(request);
    server.reply = json(401, error('unauthorized'));
    expect(await client.provisionToken(request)).to.include({ token: null, unauthorized: true, isTransient: false });
  });
});

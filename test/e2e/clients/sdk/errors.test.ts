/**
 * Reports: sent, queued on disk, bounded, retried, counted once (contract 90, SDK; contract 21,
 * intake).
 */
import { expect } from 'chai';
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '../../../../clients/sdk/index.js';
import { FakeServer, folder, json, page, removeFolder } from '../../../clients/sdk/server.js';

const SDK = new URL('../../../../clients/sdk/index.js', import.meta.url).href;
const TAKEN = { status: 'success', id: 'i-1', ref: 'shop-1', created: true, ignored: false };

describe('sdk: errors', function () {
  let server: FakeServer;
  let dir: string;
  let client: Client;
  const queued = async (): Promise<string[]> => readdir(join(dir, 'aos-errors')).catch(() => []);
  const open = (more: object = {}): Client =>
    createClient({ server: server.url, project: 'shop', token: 't-1', cacheDir: dir, timeoutMs: 60_000, ...more });
  /** A program that has `client`, run to its end. */
  async function program(text: string): Promise<{ code: number | null; signal: string | null; stderr: string }> {
    const file = join(dir, 'program.mjs');
    const options = JSON.stringify({
      server: server.url,
      project: 'shop',
      token: 't-1',
      cacheDir: dir,
      // Longer than a test may take: nothing of it waits for that.
      timeoutMs: 600_000,
    });
    await writeFile(
      file,
      `import { createClient } from '${SDK}';\nconst client = createClient(${options});\n${text}\n`,
    );
    const child = spawn(process.execPath, [file], { stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    return { code, signal, stderr };
  }
  const until = async (what: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await what())) await new Promise((resolve) => setTimeout(resolve, 20));
  };

  beforeEach(async () => {
    server = await new FakeServer().start();
    dir = await folder();
    client = open();
    server.reply = json(201, TAKEN);
  });
  afterEach(async () => {
    await server.stop();
    await removeFolder(dir);
  });

  it('reports the fields of contract 21 with the token, and leaves nothing behind', async () => {
    const report = {
      error_message: 'no stock',
      error_level: 'warning' as const,
      app_version: '1.2',
      line: 7,
      tags: ['a'],
    };
    const { clientRef, ...result } = await client.reportError(report);
    expect(result).to.deep.equal({
      sent: true,
      queued: false,
      id: 'i-1',
      ref: 'shop-1',
      created: true,
      ignored: false,
    });
    const [requested] = server.asked;
    expect(requested?.path).to.equal('/api/errors/v1/report');
    expect(requested?.headers['authorization']).to.equal('Bearer t-1');
    expect(requested?.body).to.deep.include({ ...report, project: 'shop', client_ref: clientRef });
    expect(await queued()).to.deep.equal([]);
  });

  it('sends the current user until another user or none is set', async () => {
    const users = async (): Promise<unknown[]> => {
      await client.reportError({ error_message: 'a' });
      await client.reportError({ error_message: 'b', user: { id: 'own' } });
      return server.asked.slice(-2).map(({ body }) => body['user']);
    };
    client.setUser({ id: 4711 });
    expect(await users()).to.deep.equal([{ id: 4711 }, { id: 'own' }]);
    client.setUser(null);
    expect(await users()).to.deep.equal([undefined, { id: 'own' }]);
    for (const user of ['ada', {}, { id: '' }, { id: null }])
      expect(() => client.setUser(user as never)).to.throw(TypeError);
  });

  it('captures any thrown value', async () => {
    class StockError extends Error {}
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    await client.captureException(new StockError('none left', { cause: new TypeError('inner') }), {
      app_version: '1.2',
      error_level: 'fatal',
      context: circle,
    });
    const unreadable = new Error('x');
    Object.defineProperty(unreadable, 'message', {
      get: () => {
        throw new Error('mean');
      },
    });
    for (const thrown of ['text', null, undefined, 7, 10n, {}, circle, unreadable, new Error('')])
      expect(await client.captureException(thrown)).to.include({ sent: true });
    const [first, ...others] = server.asked.map(({ body }) => body);
    expect(first).to.include({
      error_message: 'none left',
      exception_class: 'StockError',
      app_version: '1.2',
      error_level: 'fatal',
    });
    expect(first?.['stack_trace']).to.include('errors.test').and.include('Caused by: TypeError: inner');
    for (const { error_message } of others) expect(error_message).to.be.a('string').and.not.equal('');
  });

  it('queues on disk without a server, and sends later with the same client_ref', async () => {
    const { port } = new URL(server.url);
    await server.stop();
    const { clientRef, ...result } = await client.reportError({ error_message: 'lost?' });
    expect(result).to.deep.include({ sent: false, queued: true });
    expect(result.error?.code).to.equal('network');
    expect(await queued()).to.have.length(1);
    await server.start(Number(port));
    await until(async () => (await queued()).length === 0);
    expect(server.asked.map(({ body }) => body['client_ref'])).to.deep.equal([clientRef]);
  });

  it('retains reports after a foreign response, 401, 403, 429 and 5xx, and drops rejected reports', async () => {
    const envelope = { status: 'error', error: { code: 'validation_failed', message: 'No.' } };
    for (const [status, waits] of [
      [401, true],
      [403, true],
      [500, true],
      [503, true],
      [400, false],
      [404, false],
      [413, false],
      [422, false],
    ] as const) {
      server.reply = json(status, envelope);
      expect(await client.reportError({ error_message: `${status}` }), `${status}`).to.include({
        sent: false,
        queued: waits,
      });
      server.reply = page(status, 'another server');
      expect(await client.reportError({ error_message: `${status}` }), `page ${status}`).to.include({ queued: true });
    }
    server.reply = json(429, envelope, { 'retry-after': '30' });
    expect(await client.reportError({ error_message: '429' })).to.include({ queued: true });
    const requested = server.asked.length;
    expect(await client.reportError({ error_message: 'while asked to wait' })).to.include({ queued: true });
    expect(server.asked.length).to.equal(requested);
  });

  it('accepts invalid types from an untyped application', async () => {
    server.reply = json(422, { status: 'error', error: { code: 'validation_failed', message: 'No.' } });
    for (const report of [undefined, null, {}, 'text', 7, { error_message: 7, context: 10n }])
      expect(await client.reportError(report as never)).to.include({ sent: false, queued: false });
  });

  it('reports a missing token', async () => {
    const { error, ...result } = await open({ token: undefined }).reportError({ error_message: 'x' });
    expect(result).to.include({ sent: false, queued: false });
    expect(error?.code).to.equal('no_token');
  });

  it('retains the newest 200 reports, in order', async () => {
    await server.stop();
    const nowhere = open();
    await Promise.all(Array.from({ length: 230 }, (_, n) => nowhere.reportError({ error_message: `e${n}` })));
    expect(await queued()).to.have.length(200);
    await server.start(Number(new URL(server.url).port));
    expect(await nowhere.flush()).to.equal(0);
    expect(server.asked.map(({ body }) => body['error_message'])).to.deep.equal(
      Array.from({ length: 200 }, (_, n) => `e${n + 30}`),
    );
  });

  it('sends the queue at the next start after kill -9', async () => {
    server.reply = () => undefined;
    const ended = await program(`
      client.captureException(new Error('killed'));
      process.kill(process.pid, 'SIGKILL');`);
    expect(ended.signal).to.equal('SIGKILL');
    expect(await queued()).to.have.length(1);
    server.reply = json(201, TAKEN);
    const before = server.asked.length;
    open();
    await until(async () => (await queued()).length === 0);
    expect(server.asked.at(before)?.body['error_message']).to.equal('killed');
  });

  it('ignores a corrupt file in the queue', async () => {
    await client.reportError({ error_message: 'makes the folder' });
    await writeFile(
      join(dir, 'aos-errors', `${String(Date.now()).padStart(15, '0')}-${'0'.repeat(36)}.json`),
      '{"half',
    );
    await writeFile(join(dir, 'aos-errors', 'README'), 'not ours');
    expect(await client.flush()).to.equal(0);
    expect(await queued()).to.deep.equal(['README']);
  });

  it('loses no report when several processes share a folder', async () => {
    await server.stop();
    const file = fileURLToPath(new URL('reporter.js', import.meta.url));
    const options = { server: server.url, project: 'shop', token: 't-1', cacheDir: dir };
    const children = [1, 2, 3].map((n) => fork(file, [JSON.stringify(options), `p${n}`, '20']));
    await Promise.all(children.map((child) => once(child, 'close')));
    expect(await queued()).to.have.length(60);
    await server.start(Number(new URL(server.url).port));
    await Promise.all([open().flush(), open().flush(), open().flush()]);
    expect(await queued()).to.deep.equal([]);
    expect(new Set(server.asked.map(({ body }) => body['client_ref'])).size).to.equal(60);
  });

  describe('thrown values', () => {
    const reported = async (thrown: unknown, ...more: unknown[]): Promise<Record<string, unknown>> => {
      // As a listener calls it, with whatever there is.
      const given = [thrown, ...more] as Parameters<Client['captureException']>;
      expect(await client.captureException(...given)).to.include({ sent: true });
      return server.asked.at(-1)?.body ?? {};
    };
    const traceOf = async (thrown: unknown): Promise<string> => String((await reported(thrown))['stack_trace']);
    const withStack = (stack: string): Error => Object.assign(new Error('no stock'), { stack });

    it('have the file and the line of the first frame', async () => {
      const { file, line, stack_trace } = await reported(new Error('here'));
      expect(file).to.equal(fileURLToPath(import.meta.url));
      expect(String(stack_trace).split('\n')[1]).to.include(`errors.test.js:${String(line)}:`);
    });

    for (const [stack, file, line] of [
      ['Error: x\n    at f (/app/(shop)/page.js:7:3)\n    at g (/app/b.js:1:1)', '/app/(shop)/page.js', 7],
      ['Error: x\n    at async /app/a b.mjs:8:1', '/app/a b.mjs', 8],
      [
        'SyntaxError: x\n    at JSON.parse (<anonymous>)\n    at Object.<anonymous> (C:\\app\\a.js:2:6)',
        'C:\\app\\a.js',
        2,
      ],
      ['Error: x\n    at eval (eval at f (/app/a.js:1:1), <anonymous>:1:1)\n    at node:fs:9:1', 'node:fs', 9],
      ['Error: mail a@b:1:2\n    at https://shop.example/app.js:1:20433', 'https://shop.example/app.js', 1],
      [
        'pay@https://shop.example/@till/pay.js:12:34\n@https://shop.example/b.js:1:1',
        'https://shop.example/@till/pay.js',
        12,
      ],
      ['Error: no frames at all', undefined, undefined],
      ['', undefined, undefined],
    ] as const)
      it(`which are ${String(file)}:${String(line)} of ${JSON.stringify(stack.slice(0, 30))}`, async () => {
        const body = await reported(withStack(stack));
        expect([body['file'], body['line']]).to.deep.equal([file, line]);
      });

    it('are reported with the members of a group and with their causes, each once', async () => {
      const shared = new RangeError('the store is away', { cause: new TypeError('no route') });
      const thrown = await Promise.any([
        Promise.reject(shared),
        Promise.reject(new Error('the copy is away', { cause: shared })),
        Promise.reject('just a text'),
      ]).catch((error: unknown) => error);
      const { error_message, exception_class, file, stack_trace } = await reported(thrown);
      expect({ error_message, exception_class }).to.deep.equal({
        error_message: 'All promises were rejected',
        exception_class: 'AggregateError',
      });
      expect(file).to.equal(fileURLToPath(import.meta.url));
      const heads = String(stack_trace)
        .split('\n')
        .filter((line) => !line.startsWith('    at '));
      expect(heads).to.deep.equal([
        'AggregateError: All promises were rejected',
        'Member 1 of 3: RangeError: the store is away',
        'Caused by: TypeError: no route',
        'Member 2 of 3: Error: the copy is away',
        'Member 3 of 3: NonError: just a text',
      ]);
    });

    it('are limited in members, depth of causes and cycles', async () => {
      const many = Array.from({ length: 5_000 }, (_, n) => new Error(`e${n}`));
      expect((await traceOf(new AggregateError(many, 'many'))).match(/^Member/gm)).to.have.length(10);
      const circle = new AggregateError([], 'circle');
      circle.errors = [circle, new Error('inner', { cause: circle })];
      expect((await traceOf(circle)).match(/^(Member|Caused)/gm)).to.have.length(1);
      let deep = new Error('root');
      for (let n = 0; n < 100; n++) deep = new Error(`c${n}`, { cause: deep });
      expect((await traceOf(deep)).match(/^Caused by/gm)).to.have.length(5);
    });

    it('are reported by a listener that passes extra arguments', async () => {
      for (const more of ['uncaughtException', Promise.resolve(), 7, null, undefined])
        expect(await reported(new Error('listened'), more))
          .to.include({ error_message: 'listened' })
          .and.not.have.property('0');
    });
  });

  it('supports every method detached from its client', async () => {
    const names = new Set<string>();
    for (let it: unknown = client; it instanceof Object && it !== Object.prototype; it = Object.getPrototypeOf(it))
      for (const name of Object.getOwnPropertyNames(it)) names.add(name);
    names.delete('constructor');
    expect([...names]).to.include.members(['validateLicense', 'downloadUpdate', 'launchAgent', 'captureException']);
    for (const name of names) {
      const method = (client as unknown as Record<string, (...args: unknown[]) => unknown>)[name];
      if (method === undefined) throw new Error(name);
      const detached = async (): Promise<unknown> => method({});
      // Wrong arguments may be refused; a method without its client fails by its own fields.
      const fault = await detached().then((made) => (typeof made === 'function' ? String(made()) : ''), String);
      expect(fault, name).to.not.match(/private member|reading '(?:#|reportError)/);
    }
  });

  it('are reported by process.on("uncaughtException", client.captureException)', async () => {
    const { code, stderr } = await program(`
      process.on('uncaughtException', client.captureException);
      setTimeout(() => { throw new RangeError('the original'); });`);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(server.asked.at(-1)?.body).to.include({ error_message: 'the original', exception_class: 'RangeError' });
  });

  describe('global handler', () => {
    for (const [what, text] of Object.entries({
      'an uncaught exception': `setTimeout(() => { throw new RangeError('uncaught'); });`,
      'an unhandled rejection': `void Promise.reject(new RangeError('uncaught'));`,
    }))
      it(`stores ${what}, and lets the process exit as usual`, async () => {
        server.reply = () => undefined;
        const { code, stderr } = await program(`client.installGlobalHandler({ app_version: '1.2' });\n${text}`);
        expect(code).to.equal(1);
        expect(stderr).to.include('RangeError: uncaught');
        server.reply = json(201, TAKEN);
        await open().flush();
        const { body } = server.asked.at(-1) ?? {};
        expect(body).to.include({
          error_message: 'uncaught',
          exception_class: 'RangeError',
          error_level: 'fatal',
          app_version: '1.2',
        });
      });

    it('is removed on request', () => {
      const before = process.listenerCount('uncaughtExceptionMonitor');
      client.installGlobalHandler()();
      expect(process.listenerCount('uncaughtExceptionMonitor')).to.equal(before);
    });
  });

  it('does not keep the process alive for background requests', async () => {
    await server.stop();
    await client.reportError({ error_message: 'waits' });
    await server.start(Number(new URL(server.url).port));
    server.reply = () => undefined;
    expect(await program(`setTimeout(() => undefined, 300);`)).to.deep.equal({ code: 0, signal: null, stderr: '' });
    expect(server.asked.length, 'it was under way').to.be.greaterThan(0);
  });
});

/** How the program stops (contract 95, shutdown). */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { waitUntil } from '../../harness.js';
import { CLI_PATH, TestService } from '../../support/service.js';
import { startStopwatch } from '../../support/cpu-time.js';

/** Whether nobody listens there. */
const refuses = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => (socket.destroy(), resolve(false)));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });

describe('start: stopping', function () {
  let service: TestService;
  afterEach(() => service.dispose());

  it('stops listening first on SIGTERM while a job still runs', async () => {
    service = await TestService.create();
    const hold = join(service.dataDir, 'hold');
    const plugin = `
      import { existsSync, writeFileSync } from 'node:fs';
      const hold = ${JSON.stringify(hold)};
      export default {
        id: 'holder', version: '1.0.0', api: 1, title: 'Holder',
        setup: () => ({ jobs: [{ name: 'wait', everyMs: 200, run: async () => {
          writeFileSync(hold + '.held', '');
          while (existsSync(hold)) await new Promise((resolve) => setTimeout(resolve, 20));
        } }] }),
      };`;
    await writeFile(join(service.dataDir, 'holder.mjs'), plugin);
    await writeFile(join(service.dataDir, 'aos.json'), JSON.stringify({ plugins: ['./holder.mjs'] }));
    await writeFile(hold, '');
    service.env['SVC_CONFIG'] = join(service.dataDir, 'aos.json');
    await service.start();
    await waitUntil('the job runs', () => existsSync(`${hold}.held`));
    const port = Number(new URL(service.url).port);
    const child = service.child!;
    const ended = service.stop('SIGTERM');
    await waitUntil('new connections are refused', () => refuses(port));
    expect([child.exitCode, child.signalCode]).to.deep.equal([null, null]);
    await rm(hold);
    expect(await ended).to.equal(0);
  });

  it('neither crashes nor hangs when its log is on a full disk', async function () {
    if (!existsSync('/dev/full')) this.skip();
    service = await TestService.create({ SVC_LOG_LEVEL: 'debug' });
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [CLI_PATH, 'serve'], { env: service.env, stdio: ['ignore', full, full] });
    try {
      closeSync(full);
      const ended = once(child, 'exit');
      const address = join(service.dataDir, 'server.json');
      await waitUntil('it listens', () => existsSync(address) || child.exitCode !== null);
      const { url } = JSON.parse(await readFile(address, 'utf8')) as { url: string };
      for (let requested = 0; requested < 20; requested++)
        expect((await fetch(`${url}/api/health/live`)).status).to.equal(200);
      child.kill('SIGTERM');
      // One that hangs is ended with 1.
      expect(await ended).to.deep.equal([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('answers a last request on a keep-alive connection of a proxy', async () => {
    service = await TestService.create({ SVC_SERVER__TRUSTED_PROXIES: '["127.0.0.1"]' });
    await service.start();
    const port = Number(new URL(service.url).port);
    const kept = connect(port, '127.0.0.1');
    let answers = '';
    kept.setEncoding('latin1').on('data', (text: string) => (answers += text));
    const closed = new Promise<void>((resolve) => kept.once('close', () => resolve()));
    const ask = (): boolean => kept.write('GET /api/health/live HTTP/1.1\r\nHost: a\r\n\r\n');
    ask();
    await waitUntil('the first answer', () => answers.includes('HTTP/1.1 200'));
    expect(answers.toLowerCase()).not.to.include('connection: close');
    answers = '';
    const ended = service.stop('SIGTERM');
    await waitUntil('new connections are refused', () => refuses(port));
    ask();
    await closed;
    expect(answers).to.match(/^HTTP\/1\.1 200 [^]*\r\nconnection: close\r\n/i);
    // A stop that is given up after 15 s ends with 1.
    expect(await ended).to.equal(0);
  });

  it('aborts downloads and uploads 10 s after SIGTERM, and resumes a download at its offset', async () => {
    service = await TestService.create();
    const size = 24 * 1024 * 1024;
    const begun = join(service.dataDir, 'begun');
    const plugin = `
      import { appendFileSync } from 'node:fs';
      import { FileAnswer } from 'aos/plugin';
      const begun = () => appendFileSync(${JSON.stringify(begun)}, '.');
      const file = { size: ${size}, etag: '"v1"', contentType: 'application/gzip', open: async function* (start, end) {
        begun();
        for (let at = start; at < end; at += 262144) yield Buffer.alloc(Math.min(262144, end - at), at / 262144);
      } };
      const common = { summary: 'test', access: 'public', limits: { rate: 'none' }, hidden: true };
      export default {
        id: 'streams', version: '1.0.0', api: 1, title: 'Streams',
        setup: () => ({ routes: [
          { ...common, method: 'GET', path: '/streams/file', handle: () => new FileAnswer(file) },
          { ...common, method: 'POST', path: '/streams/upload',
            input: { stream: { mediaTypes: ['application/gzip'], bytes: ${size} } },
            handle: async ({ body }) => { begun(); for await (const piece of body.content); return {}; } },
        ] }),
      };`;
    await writeFile(join(service.dataDir, 'streams.mjs'), plugin);
    await writeFile(join(service.dataDir, 'aos.json'), JSON.stringify({ plugins: ['./streams.mjs'] }));
    service.env['SVC_CONFIG'] = join(service.dataDir, 'aos.json');
    await service.start();
    const port = Number(new URL(service.url).port);
    const open = async (head: string): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1');
      socket.write(`${head}\r\nHost: a\r\n`);
      return socket;
    };
    // One that takes its file in time, one that takes nothing, and an upload that goes on for ever.
    const quick = fetch(`${service.url}/streams/file`);
    const slow = await open('GET /streams/file HTTP/1.1');
    slow.pause();
    slow.write('\r\n');
    const upload = await open('POST /streams/upload HTTP/1.1');
    upload.write(`Content-Type: application/gzip\r\nContent-Length: ${size}\r\n\r\n`);
    const drip = setInterval(() => void upload.write(Buffer.alloc(64 * 1024)), 100);
    let cut = 0;
    for (const socket of [slow, upload]) socket.on('error', () => undefined).once('close', () => cut++);
    const answer = await quick;
    // A connection whose request has not arrived yet is an idle one, which is closed at once.
    await waitUntil('all three run', () => existsSync(begun) && statSync(begun).size === 3);
    const passed = startStopwatch();
    const ended = service.stop('SIGTERM');
    await waitUntil('new connections are refused', () => refuses(port));
    expect((await answer.arrayBuffer()).byteLength).to.equal(size);
    expect(cut).to.equal(0);
    expect(await ended).to.equal(0);
    clearInterval(drip);
    expect(passed()).to.be.at.least(9_000);
    let received = 0;
    slow.on('data', (chunk) => (received += chunk.length)).resume();
    await waitUntil('both are cut', () => cut === 2);
    expect(received).to.be.within(1, size - 1);

    await service.start();
    const rest = await fetch(`${service.url}/streams/file`, {
      headers: { range: 'bytes=1048576-', 'if-range': '"v1"' },
    });
    expect([rest.status, (await rest.arrayBuffer()).byteLength]).to.deep.equal([206, size - 1_048_576]);
  });
});

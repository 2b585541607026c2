/**
 * What callers without a credential can do to those with one (contract 00, limits): compressed
 * bodies that grow a thousandfold, bodies that are declared and held back, forms that never end.
 * The real process, from twenty addresses.
 */
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { SHARED_KEY, TestService } from '../../support/service.js';
import { Attack, Caller, memory, type HeldBack } from './attack.js';
import type { Flood } from './flood-sockets.js';

const MIB = 1024 * 1024;
/** What callers with a credential ask while an attack goes on, four at once. */
const ASKED = 200;

/**
 * Bodies of 1 MiB of one token that arrive while strangers hold theirs back: more than any address
 * of the attack holds.
 */
const ARRIVING = 16;
/** More MiB than the bodies of all together may hold. */
const STRANGERS = 200;
/**
 * So often a body must have given way before the token's go on: what strangers may hold is used up
 * then.
 */
const GAVE_WAY = 100;

const FORM = 'Content-Type: application/x-www-form-urlencoded';
const head = (path: string, length: number, more: readonly string[] = []): string =>
  [`POST ${path} HTTP/1.1`, 'Host: aos', `Content-Length: ${length}`, ...more, '', ''].join('\r\n');

/** The part of them that was answered well. */
const share = (statuses: readonly number[]): number =>
  statuses.filter((status) => status >= 200 && status < 300).length / statuses.length;

describe('faults: floods of unauthenticated requests', function () {
  let service: TestService;
  let caller: Caller;
  let token = '';
  before(async () => {
    service = await TestService.createStarted({ SVC_LIMITS__INTAKE_PER_MINUTE: '0' });
    await service.createProject('shop');
    token = await service.createToken('bugtracker:report,watchdog:ping');
  });
  beforeEach(() => {
    caller = new Caller(service.url);
  });
  afterEach(() => {
    caller.close();
  });
  after(() => service.dispose());

  const port = (): number => Number(new URL(service.url).port);
  const beat = (i: number): Promise<number> =>
    caller.ask('POST', '/api/watchdog/v1/ping', token, { source: `host-${i % 20}`, interval: 60 });
  const report = (i: number): Promise<number> =>
    caller.ask('POST', '/api/errors/v1/report', token, {
      project: 'shop',
      error_level: 'error',
      error_message: `Order could not be loaded (${i % 20})`,
    });

  /** The answers to heartbeats and reports, four at once. */
  async function honest(): Promise<number[]> {
    const statuses: number[] = [];
    let next = 0;
    const loop = async (): Promise<void> => {
      for (let i = next++; i < ASKED; i = next++) statuses.push(await (i % 2 === 0 ? beat(i) : report(i)));
    };
    await Promise.all(Array.from({ length: 4 }, loop));
    return statuses;
  }

  it('uses below 150 MB for 400 compressed bodies that inflate to 8 MiB each, and answers probes', async function () {
    if (!existsSync('/proc/self/status')) this.skip();
    const pid = service.child!.pid!;
    const bomb = gzipSync(Buffer.alloc(8 * MIB, 0x20), { level: 9 });
    expect(bomb.length).to.be.within(7_000, 9_000);
    await Promise.all(Array.from({ length: 10 }, (_, i) => Promise.all([beat(i), report(i)])));
    const idle = await memory(pid, 'VmRSS');
    await writeFile(`/proc/${pid}/clear_refs`, '5');
    const probes: number[] = [];
    const state = { done: false };
    const probing = (async () => {
      while (!state.done) {
        probes.push(await caller.ask('GET', '/api/health/ready', null));
        await sleep(20);
      }
    })();
    const answered = Array.from({ length: 400 }, (_, i) => {
      const socket = connect({ host: '127.0.0.1', port: port(), localAddress: `127.0.0.${10 + (i % 20)}` });
      return new Promise<string>((resolve) => {
        let received = '';
        socket.on('error', () => resolve(received)).once('close', () => resolve(received));
        socket.on('data', (chunk: Buffer) => {
          received += chunk.toString('latin1');
          if (received.includes('request_id')) socket.destroy();
        });
        socket.write(head('/api/1/envelope/', bomb.length, ['Content-Encoding: gzip']));
        socket.write(bomb);
      });
    });
    const answers = await Promise.all(answered);
    state.done = true;
    await probing;
    const peak = await memory(pid, 'VmHWM');
    console.log(
      `      idle ${Math.round(idle / MIB)} MiB, peak ${Math.round(peak / MIB)} MiB, ${probes.length} probes`,
    );
    const codes = new Set(answers.map((text) => /"code":"(\w+)"/.exec(text)?.[1] ?? text));
    for (const code of codes) expect(code).to.be.oneOf(['unauthorized', 'rate_limited', 'overloaded']);
    expect(peak - idle).to.be.below(150_000_000);
    // Where the bodies were grown on the loop, a probe would wait for all of them.
    expect(probes.length).to.be.above(3);
    expect(share(probes)).to.equal(1);
  });

  /**
   * What callers with a credential are answered while the attack goes on, which lasts until they
   * are through. Anyone who had to wait for one of its places would wait for the 5 s that a body
   * may stand still, and all of them for minutes: longer than this test may take.
   */
  async function under(flood: Omit<Flood, 'port'>, also = async (): Promise<void> => undefined): Promise<number[]> {
    const attack = await Attack.open({ ...flood, port: port() });
    try {
      const [statuses] = await Promise.all([honest(), also()]);
      console.log(`      ${(share(statuses) * 100).toFixed(2)} % of ${statuses.length} answered well`);
      return statuses;
    } finally {
      await attack.close();
    }
  }

  it('remains available with 130 incomplete bodies of 1 MiB', async () => {
    const large = Buffer.alloc(MIB - 1, 0x20);
    const writes = [
      [head('/api/1/envelope/', MIB), large],
      [head('/login', MIB, [FORM]), large],
    ];
    const answers = await under({ count: 130, writes });
    expect(share(answers)).to.be.at.least(0.99);
  });

  /** How often a request was refused because there was no room, or its body gave way to another. */
  async function overloaded(): Promise<number> {
    const metrics = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${SHARED_KEY}` } });
    const text = await metrics.text();
    expect(metrics.status, text).to.equal(200);
    return Number(/^aos_http_errors_total\{code="overloaded"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  it(`evicts no authenticated body for ${STRANGERS} anonymous bodies of 1 MiB`, async () => {
    const padded = Buffer.alloc(MIB, 0x20);
    const written = (i: number): Buffer => {
      const body = Buffer.from(padded);
      body.write(JSON.stringify({ project: 'shop', error_level: 'error', error_message: `Large report ${i}` }));
      return body;
    };
    const held: HeldBack[] = await Promise.all(
      Array.from({ length: ARRIVING }, (_, i) => caller.holdBack('/api/errors/v1/report', token, written(i))),
    );
    // The whole body of this question is read without a credential.
    const question = [head('/api/license/v1/validate', MIB, ['Content-Type: application/json']), padded.subarray(1)];
    const before = await overloaded();
    const answers = await under({ count: STRANGERS, writes: [question] }, async () => {
      while (!held.some((body) => body.answered()) && (await overloaded()) - before < GAVE_WAY) await sleep(20);
      const statuses = await Promise.all(held.map((body) => body.finish()));
      expect(statuses.filter((status) => status !== 200 && status !== 201)).to.deep.equal([]);
    });
    expect(share(answers)).to.be.at.least(0.99);
  });

  it('remains available, including logins, with 1,100 login forms that sent one byte', async () => {
    const pages: number[] = [];
    const writes = [[head('/login', 100, [FORM]), 'a']];
    const answers = await under({ count: 1_100, writes }, async () => {
      for (let i = 0; i < 5; i++) pages.push(await caller.ask('GET', '/login', null));
    });
    expect(pages).to.deep.equal([200, 200, 200, 200, 200]);
    expect(share(answers)).to.be.at.least(0.99);
  });
});

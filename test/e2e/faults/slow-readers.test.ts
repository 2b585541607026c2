/**
 * Callers that ask for the largest answers and read one piece of them (contract 40, asking):
 * hundreds of connections from twenty addresses, at the real process. Its memory stays bounded, and
 * everybody else is answered meanwhile.
 */
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { buildArchive } from '../../support/release-server.js';
import { TestService } from '../../support/service.js';
import { startStopwatch } from '../../support/cpu-time.js';
import { Attack, Caller, memory } from './attack.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const MANIFEST = '/releases/large/stable/2.0/any/manifest.json';
const READERS = 600;
/**
 * Where each of them costs the service more than its place: a connection of twenty answers, an
 * encoder.
 */
const FEWER = 200;
/** A manifest of a MiB: all readers together would be sent more than the answers may cost. */
const FILES = 8_000;
/** Of each kind, while the attack goes on. */
const ASKED = 30;
/**
 * What the answers of all readers together may cost: a part of what each attack would hold if
 * nothing bounded it.
 */
const MOST_BYTES = 300 * MIB;

const asking = (path: string, headers: readonly string[] = []): string =>
  [`GET ${path} HTTP/1.1`, 'Host: aos', ...headers, '', ''].join('\r\n');

describe('faults: slow readers', function () {
  let service: TestService;
  let caller: Caller;
  let token = '';
  let idle = 0;
  before(function () {
    if (!existsSync('/proc/self/status')) this.skip();
  });
  before(async () => {
    service = await TestService.createStarted({
      SVC_LIMITS__PUBLIC_PER_MINUTE: '0',
      SVC_LIMITS__API_PER_MINUTE: '0',
    });
    caller = new Caller(service.url);
    token = await service.createToken('bugtracker:report,bugtracker:manage,updateservice:publish,watchdog:ping');
    await publish('shop', 1_500);
    await publish('large', FILES);
    // Just below what is told inline, and above.
    expect((await reported('shop')).manifest_json?.length).to.be.within(192 * KIB, 256 * KIB);
    expect(await reported('large')).to.include({ manifest_json: null, manifest_url: MANIFEST });
    for (let i = 0; i < 100; i++) {
      const bug = { project: 'shop', title: `Bug ${i}`, description: `${i} `.padEnd(9_000, 'lorem ipsum ') };
      const { status, body } = await service.request('POST', '/api/bugtracker/v1/report', token, bug);
      expect(status, JSON.stringify(body)).to.equal(201);
    }
  });
  after(async () => {
    caller?.close();
    await service?.dispose();
  });

  async function publish(product: string, files: number): Promise<void> {
    await service.createProject(product);
    const entries = Array.from({ length: files }, (_, i) => ({ path: `files/${i}`, content: String(i) }));
    const published = await fetch(`${service.url}/api/updateservice/v1/publish?product=${product}&version=2.0`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
      body: new Uint8Array(buildArchive(entries)),
    });
    expect(published.status, await published.text()).to.equal(201);
  }
  async function reported(product: string): Promise<{ manifest_json: string | null; manifest_url: string | null }> {
    const answer = await fetch(`${service.url}/api/updateservice/v1/check?product=${product}&version=1.0`);
    return ((await answer.json()) as { release: Awaited<ReturnType<typeof reported>> }).release;
  }

  const others: [name: string, method: string, path: string, body?: (i: number) => object][] = [
    ['ready', 'GET', '/api/health/ready'],
    ['check', 'GET', '/api/updateservice/v1/check?product=shop&version=2.0'],
    ['large check', 'GET', '/api/updateservice/v1/check?product=shop&version=1.0'],
    ['ping', 'POST', '/api/watchdog/v1/ping', (i) => ({ source: `host-${i % 5}`, interval: 60 })],
    ['log-in', 'GET', '/login'],
    ['list', 'GET', '/api/bugtracker/v1/bugs?limit=5'],
  ];

  /**
   * @returns by what the memory of the process grew, and how often the others got which status, by
   *   what they asked
   */
  async function attacked(
    readers: number,
    request: string,
  ): Promise<{ grown: number; answers: Map<string, Map<number, number>> }> {
    const pid = service.child?.pid ?? 0;
    for (const [, method, path, body] of others) await caller.ask(method, path, token, body?.(0));
    // Before the first attack: what one leaves behind is no ground for the next.
    idle ||= await memory(pid, 'VmRSS');
    await writeFile(`/proc/${pid}/clear_refs`, '5');
    const opened = Attack.open({
      count: readers,
      writes: [[request]],
      unread: true,
      port: Number(new URL(service.url).port),
    });
    const answers = new Map<string, Map<number, number>>();
    let longest = 0;
    const requested = others.map(async ([name, method, path, body]) => {
      const statuses = new Map<number, number>();
      answers.set(name, statuses);
      for (let i = 0; i < ASKED; i++) {
        const passed = startStopwatch();
        const status = await caller.ask(method, path, token, body?.(i));
        longest = Math.max(longest, passed());
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    });
    await Promise.all([opened, ...requested]);
    const grown = (await memory(pid, 'VmHWM')) - idle;
    await (await opened).close();
    const rejected = [...answers.values()].reduce((sum, statuses) => sum + (statuses.get(503) ?? 0), 0);
    const figures = [`grown by ${Math.round(grown / MIB)} MiB from ${Math.round(idle / MIB)} MiB`];
    figures.push(`${rejected} others refused`, `the longest waited ${Math.round(longest)} ms`);
    console.log(`      ${figures.join(', ')}`);
    return { grown, answers };
  }

  const CHECK = '/api/updateservice/v1/check?product=shop&version=1.0';
  const attacks: [readers: number, name: string, path: string, headers: () => string[], pipelined?: number][] = [
    [READERS, 'the largest check', CHECK, () => []],
    [FEWER, 'the largest check twenty times', CHECK, () => [], 20],
    [READERS, `a release of ${FILES} files`, '/api/updateservice/v1/check?product=large&version=1.0', () => []],
    [FEWER, 'the largest check, compressed', CHECK, () => ['Accept-Encoding: br']],
    [READERS, 'the description of the interface', '/api/openapi.json', () => []],
    [READERS, 'lists with a token', '/api/bugtracker/v1/bugs?limit=200', () => [`Authorization: Bearer ${token}`]],
  ];
  for (const [readers, name, path, headers, times = 1] of attacks) {
    it(`limits the memory for ${readers} that request ${name}, and answers other clients`, async () => {
      const { grown, answers } = await attacked(readers, asking(path, headers()).repeat(times));
      for (const [other] of others) {
        const { 200: read = 0, 201: made = 0, ...more } = Object.fromEntries(answers.get(other) ?? []);
        // Hundreds at one moment may find no place left; that too is an answer.
        expect(Object.keys(more), other).to.have.members('503' in more ? ['503'] : []);
        expect(read + made, other).to.be.above(ASKED / 2);
      }
      expect(grown).to.be.below(MOST_BYTES);
    });
  }
});

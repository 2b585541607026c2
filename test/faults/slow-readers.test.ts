/**
 * Callers that ask for the largest answers and read one piece of them (contract 40, asking): 600 connections from twenty
 * addresses, at the real process. Its memory stays bounded, and everybody else is answered meanwhile.
 */
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { archiveOf } from '../support/release-server.js';
import { TestService } from '../support/service.js';
import { Attack, Caller, memory } from './attack.js';

const MIB = 1024 * 1024;
const READERS = 600;
/** Of each kind, while the attack goes on. */
const ASKED = 30;
/** What the answers of all readers together may cost; each attack asks for several gigabytes. */
const MOST_BYTES = 400 * MIB;

const asking = (path: string, headers: readonly string[] = []): string =>
  [`GET ${path} HTTP/1.1`, 'Host: aos', ...headers, '', ''].join('\r\n');

describe('faults: slow readers', function () {
  this.timeout(180_000);
  let service: TestService;
  let caller: Caller;
  let token = '';
  before(function () {
    if (!existsSync('/proc/self/status')) this.skip();
  });
  before(async () => {
    service = await TestService.started({
      SVC_LIMITS__PUBLIC_PER_MINUTE: '0',
      SVC_LIMITS__API_PER_MINUTE: '0',
    });
    caller = new Caller(service.url);
    await service.project('shop');
    token = await service.token('bugtracker:report,bugtracker:manage,updateservice:publish,watchdog:ping');
    const files = Array.from({ length: 1_500 }, (_, i) => ({ path: `files/${i}`, content: String(i) }));
    const published = await fetch(`${service.url}/api/updateservice/v1/publish?product=shop&version=2.0`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
      body: new Uint8Array(archiveOf(files)),
    });
    expect(published.status, await published.text()).to.equal(201);
    await service.project('large');
    const many = Array.from({ length: 30_000 }, (_, i) => ({ path: `files/${i}`, content: String(i) }));
    const large = await fetch(`${service.url}/api/updateservice/v1/publish?product=large&version=2.0`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
      body: new Uint8Array(archiveOf(many)),
    });
    expect(large.status, await large.text()).to.equal(201);
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

  const others: [name: string, method: string, path: string, body?: (i: number) => object][] = [
    ['ready', 'GET', '/api/health/ready'],
    ['check', 'GET', '/api/updateservice/v1/check?product=shop&version=2.0'],
    ['large check', 'GET', '/api/updateservice/v1/check?product=shop&version=1.0'],
    ['ping', 'POST', '/api/watchdog/v1/ping', (i) => ({ source: `host-${i % 5}`, interval: 60 })],
    ['log-in', 'GET', '/login'],
    ['list', 'GET', '/api/bugtracker/v1/bugs?limit=5'],
  ];

  /** @returns by what the memory of the process grew, and the statuses of the others by what they asked */
  async function attacked(request: string): Promise<{ grown: number; answers: Map<string, Set<number>> }> {
    const pid = service.child?.pid ?? 0;
    for (const [, method, path, body] of others) await caller.ask(method, path, token, body?.(0));
    const idle = await memory(pid, 'VmRSS');
    await writeFile(`/proc/${pid}/clear_refs`, '5');
    const opened = Attack.open({
      count: READERS,
      writes: [[request]],
      unread: true,
      port: Number(new URL(service.url).port),
    });
    const answers = new Map<string, Set<number>>();
    const asked = others.map(async ([name, method, path, body]) => {
      const statuses = new Set<number>();
      answers.set(name, statuses);
      for (let i = 0; i < ASKED; i++) statuses.add(await caller.ask(method, path, token, body?.(i)));
    });
    await Promise.all([opened, ...asked]);
    const grown = (await memory(pid, 'VmHWM')) - idle;
    await (await opened).close();
    console.log(`      idle ${Math.round(idle / MIB)} MiB, grown by ${Math.round(grown / MIB)} MiB`);
    return { grown, answers };
  }

  const attacks: [name: string, path: string, headers: () => string[]][] = [
    ['the largest check', '/api/updateservice/v1/check?product=shop&version=1.0', () => []],
    ['a release of 30,000 files', '/api/updateservice/v1/check?product=large&version=1.0', () => []],
    [
      'the largest check, compressed',
      '/api/updateservice/v1/check?product=shop&version=1.0',
      () => ['Accept-Encoding: br'],
    ],
    ['the description of the interface', '/api/openapi.json', () => []],
    ['lists with a token', '/api/bugtracker/v1/bugs?limit=200', () => [`Authorization: Bearer ${token}`]],
  ];
  for (const [name, path, headers] of attacks) {
    it(`${READERS} that ask for ${name} cost bounded memory, and others are answered`, async () => {
      const { grown, answers } = await attacked(asking(path, headers()));
      for (const [other] of others) {
        const statuses = answers.get(other) ?? new Set<number>();
        // Six hundred at one moment may find no place left; that too is an answer.
        statuses.delete(503);
        expect(
          [...statuses].filter((status) => status !== 200 && status !== 201),
          other,
        ).to.deep.equal([]);
        expect(statuses.size, other).to.be.above(0);
      }
      expect(grown).to.be.below(MOST_BYTES);
    });
  }
});

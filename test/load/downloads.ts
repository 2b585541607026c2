/**
 * Downloads: MB/s of `FileAnswer` over the file store, beside a plain Node stream and Debian's nginx, in turn; and the
 * memory that 2 GiB need on their way out and in. The readers are raw sockets: an HTTP client would cost more than the servers.
 */
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TestService } from '../support/service.js';
import { median } from './generator.js';
import { bareServer, cpuMs, residentMb } from './measure.js';
import { nginxServer } from '../support/nginx.js';

const MIB = 1024 * 1024;
const SIZES: readonly (readonly [name: string, bytes: number, connections: number])[] = [
  ['1 MiB', MIB, 8],
  ['256 MiB', 256 * MIB, 4],
];
type Say = (text: string) => void;

interface Server {
  name: string;
  /** Before the name of the file. */
  url: string;
  pid: number;
}

/** Reads the same file again and again on one connection, until the time is over. @returns bytes of bodies */
function reader(url: URL, size: number, until: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`;
    let bytes = 0;
    /** Of this answer; -1: its head has not come whole. */
    let left = -1;
    let head = '';
    const take = (length: number, buffer: Uint8Array): boolean => {
      let at = 0;
      if (left === -1) {
        const before = head.length;
        head += Buffer.from(buffer.subarray(0, length)).toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end === -1) return true;
        if (!head.startsWith('HTTP/1.1 200')) throw new Error(head.slice(0, 200));
        at = end + 4 - before;
        left = size;
      }
      bytes += length - at;
      left -= length - at;
      if (left > 0) return true;
      left = -1;
      head = '';
      if (performance.now() < until) socket.write(request);
      else socket.end();
      return true;
    };
    const socket = connect({
      port: Number(url.port),
      host: url.hostname,
      onread: { buffer: Buffer.alloc(256 * 1024), callback: take },
    });
    socket.on('connect', () => socket.write(request)).on('error', reject);
    socket.on('close', () => resolve(bytes));
  });
}

/** MB/s, and processor milliseconds of the server for each GB. */
async function rate(
  { url, pid }: Server,
  file: string,
  size: number,
  connections: number,
  seconds: number,
): Promise<{ speed: number; cpu: number }> {
  const began = performance.now();
  const cpu = await cpuMs(pid);
  const until = began + seconds * 1000;
  const target = new URL(url + file);
  const bytes = await Promise.all(Array.from({ length: connections }, () => reader(target, size, until)));
  const sum = bytes.reduce((a, b) => a + b, 0);
  return {
    speed: sum / 1e6 / ((performance.now() - began) / 1000),
    cpu: ((await cpuMs(pid)) - cpu) / (sum / 1e9),
  };
}

async function fill(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w');
  const piece = Buffer.alloc(MIB, 7);
  for (let at = 0; at < bytes; at += MIB) await file.write(piece);
  await file.close();
}

export async function downloads(say: Say, rounds: number, seconds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-downloads-'));
  for (const [name, bytes] of SIZES) await fill(join(folder, fileOf(name)), bytes);
  const config = join(folder, 'aos.json');
  const plugin = fileURLToPath(new URL('./files-plugin.js', import.meta.url));
  await writeFile(config, JSON.stringify({ plugins: [plugin] }));
  const plain = await bareServer('./bare-files.js', [folder]);
  const nginx = await nginxServer(`root ${folder};`);
  const service = await TestService.started({ SVC_CONFIG: config, BENCH_FILES: folder });
  try {
    if (nginx === null) say('nginx is not installed; its figures are left out');
    const ours: Server = { name: 'aos', url: `${service.url}/bench/`, pid: service.child?.pid ?? 0 };
    const servers: Server[] = [
      { name: 'plain Node stream', url: `${plain.url}/`, pid: plain.pid },
      ...(nginx === null ? [] : [{ name: 'nginx', url: `${nginx.url}/`, pid: nginx.pid }]),
      ours,
    ];
    for (const size of SIZES) await side(say, servers, size, rounds, seconds);
    await memory(say, ours, service.url);
  } finally {
    await service.dispose();
    await nginx?.stop();
    plain.stop();
    await rm(folder, { recursive: true });
  }
}

const fileOf = (name: string): string => name.replace(' ', '-');

/** All servers in turn with one size. */
async function side(
  say: Say,
  servers: readonly Server[],
  [name, size, connections]: (typeof SIZES)[number],
  rounds: number,
  seconds: number,
): Promise<void> {
  say(`\nDownloads of ${name}: ${connections} connections, ${rounds} rounds of ${seconds} s each, in turn`);
  const speeds = new Map(servers.map((server) => [server.name, [] as number[]]));
  for (const server of servers) await rate(server, fileOf(name), size, connections, 2);
  for (let round = 0; round < rounds; round++) {
    for (const server of servers) {
      const { speed, cpu } = await rate(server, fileOf(name), size, connections, seconds);
      speeds.get(server.name)?.push(speed);
      say(
        `  ${server.name.padEnd(20)} ${speed.toFixed(0).padStart(6)} MB/s   ${cpu.toFixed(0).padStart(5)} ms CPU a GB`,
      );
    }
  }
  const own = speeds.get('aos') ?? [];
  for (const [other, theirs] of speeds) {
    if (other === 'aos') continue;
    const ratios = own.map((speed, i) => speed / (theirs[i] ?? NaN));
    say(`  ratio over ${other}: ${median(ratios).toFixed(2)} (${ratios.map((r) => r.toFixed(2)).join(' ')})`);
  }
}

/** The highest resident memory above the idle one while 2 GiB go out, come in, and come in as a form. */
async function memory(say: Say, { url, pid }: Server, base: string): Promise<void> {
  const idle = await residentMb(pid);
  say(`\nMemory while 2 GiB pass: ${idle.toFixed(0)} MB before`);
  const form = { head: '--b\r\nContent-Disposition: form-data; name="package"\r\n\r\n', tail: '\r\n--b--\r\n' };
  const ways: [string, () => Promise<unknown>][] = [
    ['out', () => Promise.all([1, 2, 3, 4].map(() => twice(new URL(`${url}256-MiB`))))],
    ['in', () => upload(base, 'application/gzip', 2_048)],
    ['in, as a form', () => upload(base, 'multipart/form-data; boundary=b', 2_048, form)],
  ];
  for (const [name, way] of ways) {
    let most = 0;
    const watch = setInterval(() => void residentMb(pid).then((now) => (most = Math.max(most, now))), 50);
    const began = performance.now();
    await way();
    clearInterval(watch);
    const speed = (2_048 * MIB) / 1e6 / ((performance.now() - began) / 1000);
    say(
      `  ${name.padEnd(14)} at most ${most.toFixed(0)} MB (${(most - idle).toFixed(0)} more), ${speed.toFixed(0)} MB/s`,
    );
  }
}

async function twice(url: URL): Promise<void> {
  for (let i = 0; i < 2; i++) await reader(url, 256 * MIB, 0);
}

/** A body without `Content-Length`, of which nothing is kept here either. */
async function upload(
  base: string,
  type: string,
  mebibytes: number,
  { head, tail }: { head: string; tail: string } = { head: '', tail: '' },
): Promise<void> {
  const piece = Buffer.alloc(MIB, 7);
  const body = async function* (): AsyncGenerator<Uint8Array> {
    if (head !== '') yield Buffer.from(head);
    for (let i = 0; i < mebibytes; i++) yield piece;
    if (tail !== '') yield Buffer.from(tail);
  };
  const answer = await fetch(`${base}/bench/upload`, {
    method: 'POST',
    headers: { 'content-type': type },
    body: ReadableStream.from(body()),
    duplex: 'half',
  });
  const { bytes } = (await answer.json()) as { bytes?: number };
  if (bytes !== mebibytes * MIB) throw new Error(`the service took ${bytes} bytes, status ${answer.status}`);
}

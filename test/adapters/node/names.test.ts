/** Names to addresses, against DNS servers of our own: some answer, some never do. */
import { expect } from 'chai';
import dgram from 'node:dgram';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listCandidateNames, HostResolver, parseHosts, parseSearchList } from '../../../adapters/node/host-resolver.js';
import { NodeOutbound } from '../../../adapters/node/outbound.js';
import { OutboundError } from '../../../ports/outbound.js';

type Records = Record<string, { a?: string[]; aaaa?: string[]; ttl?: number } | 'silent'>;

const A = 1;
const AAAA = 28;

/** A DNS server that knows `records`; other names do not exist. */
class Dns {
  readonly asked: string[] = [];
  private constructor(private readonly socket: dgram.Socket) {}

  static async open(records: Records): Promise<Dns> {
    const socket = dgram.createSocket('udp4');
    const dns = new Dns(socket);
    socket.on('message', (query, from) => {
      const labels: string[] = [];
      let at = 12;
      for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
        labels.push(query.subarray(at + 1, at + 1 + length).toString('latin1'));
        at += length + 1;
      }
      const type = query.readUInt16BE(at + 1);
      const name = labels.join('.').toLowerCase();
      dns.asked.push(`${name} ${type === A ? 'A' : type === AAAA ? 'AAAA' : type}`);
      const known = records[name];
      if (known === 'silent') return;
      const found = (type === A ? known?.a : type === AAAA ? known?.aaaa : []) ?? [];
      const answers = found.map((address) => answer(type, address, known?.ttl ?? 60));
      const head = Buffer.from(query.subarray(0, 12));
      head.writeUInt16BE(known === undefined ? 0x8183 : 0x8180, 2);
      head.writeUInt16BE(answers.length, 6);
      head.writeUInt32BE(0, 8);
      socket.send(Buffer.concat([head, query.subarray(12, at + 5), ...answers]), from.port, from.address);
    });
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    return dns;
  }

  get server(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  close(): void {
    this.socket.close();
  }
}

function answer(type: number, address: string, ttl: number): Buffer {
  const data =
    type === A
      ? Buffer.from(address.split('.').map(Number))
      : Buffer.from(address.split(':').flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255]));
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

describe('Names: DNS resolution', function () {
  let folder: string;
  let dns: Dns;
  const open = async (records: Records, more: { hosts?: string; resolv?: string; timeoutMs?: number } = {}) => {
    dns = await Dns.open(records);
    await writeFile(join(folder, 'hosts'), more.hosts ?? '');
    await writeFile(join(folder, 'resolv.conf'), more.resolv ?? '');
    return new HostResolver({
      servers: [dns.server],
      hosts: join(folder, 'hosts'),
      resolvConf: join(folder, 'resolv.conf'),
      timeoutMs: more.timeoutMs ?? 500,
    });
  };
  const codeOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'no fault',
      (error: NodeJS.ErrnoException) => error.code,
    );

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-names-'));
  });
  afterEach(async () => {
    dns.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('returns addresses of both families, IPv4 first', async () => {
    const names = await open({ 'hook.test': { a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8:0:0:0:0:0:1'] } });
    expect(await names.resolve('Hook.test')).to.deep.equal([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ]);
  });

  it('resolves names that have a single family', async () => {
    const names = await open({ 'four.test': { a: ['192.0.2.1'] }, 'six.test': { aaaa: ['2001:db8:0:0:0:0:0:2'] } });
    expect(await names.resolve('four.test')).to.deep.equal([{ address: '192.0.2.1', family: 4 }]);
    expect(await names.resolve('six.test')).to.deep.equal([{ address: '2001:db8::2', family: 6 }]);
    expect(await codeOf(names.resolve('none.test'))).to.equal('ENOTFOUND');
  });

  it('caches a response for its TTL, and sends a single query for concurrent callers', async () => {
    const names = await open({ 'hook.test': { a: ['192.0.2.1'] }, 'short.test': { a: ['192.0.2.2'], ttl: 0 } });
    await Promise.all(Array.from({ length: 20 }, () => names.resolve('hook.test')));
    await names.resolve('hook.test');
    expect(dns.asked.toSorted()).to.deep.equal(['hook.test A', 'hook.test AAAA']);
    await names.resolve('short.test');
    await names.resolve('short.test');
    expect(dns.asked.filter((one) => one === 'short.test A')).to.have.length(2);
  });

  it('reads the hosts file first, and detects changes to it', async () => {
    const names = await open({ 'hook.test': { a: ['192.0.2.1'] } }, { hosts: '192.0.2.9  a.test hook.test # ours\n' });
    expect(await names.resolve('hook.test')).to.deep.equal([{ address: '192.0.2.9', family: 4 }]);
    expect(dns.asked).to.deep.equal([]);
  });

  it('resolves localhost to this machine, regardless of the server’s response', async () => {
    const names = await open({ localhost: { a: ['192.0.2.1'] } });
    const loopback = [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ];
    expect(await names.resolve('localhost')).to.deep.equal(loopback);
    expect(await names.resolve('hook.localhost')).to.deep.equal(loopback);
  });

  it('resolves short names with the search list, and names with a trailing dot without it', async () => {
    const names = await open(
      { 'hook.apps.test': { a: ['192.0.2.3'] }, hook: { a: ['192.0.2.4'] } },
      { resolv: 'search none.test apps.test\noptions ndots:2 timeout:1\n' },
    );
    expect(await names.resolve('hook')).to.deep.equal([{ address: '192.0.2.3', family: 4 }]);
    expect(await names.resolve('hook.')).to.deep.equal([{ address: '192.0.2.4', family: 4 }]);
  });

  it('delays no other lookup while many names get no response', async () => {
    const silent = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`silent-${i}.test`, 'silent' as const]));
    const names = await open({ ...silent, 'hook.test': { a: ['127.0.0.1'] } }, { timeoutMs: 2_000 });
    const server = http.createServer((_request, response) => response.end('ok'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const outbound = new NodeOutbound({ resolve: (name) => names.resolve(name) });
    const policy = { mode: 'private-ok', allow: [] } as const;
    const get = (name: string) =>
      outbound.request({ method: 'GET', url: `http://${name}:${port}/`, policy, connectTimeoutMs: 1_500 });
    try {
      const stuck = Object.keys(silent).map((name) => get(name).catch((error: unknown) => error));
      const first = await Promise.race([get('hook.test'), ...stuck]);
      expect(first, 'answered before the first of them gave up').to.include({ status: 200 });
      for (const error of await Promise.all(stuck)) {
        expect(error).to.be.instanceOf(OutboundError);
        expect((error as OutboundError).message).to.equal('no connection within 1500 ms');
      }
      expect(await codeOf(names.resolve('silent-0.test'))).to.equal('ETIMEOUT');
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('parses hosts files and search lists with any content', async () => {
    await open({});
    const hosts = parseHosts('127.0.0.1 A.test\n\n# b\n::1 a.test b.test#c\nno.address d.test\n10.0.0.1\n');
    expect([...hosts]).to.deep.equal([
      [
        'a.test',
        [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ],
      ],
      ['b.test', [{ address: '::1', family: 6 }]],
    ]);
    expect(parseSearchList('domain a.test\nsearch b.test c.test . ; x\noptions rotate ndots:99')).to.deep.equal({
      suffixes: ['b.test', 'c.test'],
      ndots: 15,
    });
    expect(listCandidateNames('a.b', { suffixes: ['c'], ndots: 1 })).to.deep.equal(['a.b', 'a.b.c']);
    expect(listCandidateNames('a.b', { suffixes: ['c'], ndots: 5 })).to.deep.equal(['a.b.c', 'a.b']);
  });
});

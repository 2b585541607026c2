/**
 * Update checks beside a bare hapi GET of the same size, among ten releases and among ten thousand; and the memory that
 * publishing 2 GiB takes (`BENCH_PACKAGE` in bytes).
 */
import { createGzip, gzipSync } from 'node:zlib';
import { Readable } from 'node:stream';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { join } from 'node:path';
import { SqliteStore } from '../../adapters/sqlite/store.js';
import type { ManifestPart, ReleaseDoc } from '../../plugins/releases/model.js';
import { releaseId } from '../../plugins/releases/place.js';
import { tarEntry, tarHeader } from '../support/archives.js';
import { TestService } from '../support/service.js';
import { DAY_MS, isoOf } from '../../lib/time.js';
import { load, median, type Load } from './generator.js';
import { bareServer, cpuMs, residentMb, row } from './measure.js';

type Say = (text: string) => void;

const MIB = 1024 * 1024;
const PACKAGE = Number(process.env['BENCH_PACKAGE'] ?? 2 * 1024 * MIB - 8 * MIB);
const MANY = Number(process.env['BENCH_RELEASES'] ?? 10_000);
const UNLIMITED = { SVC_LIMITS__PUBLIC_PER_MINUTE: '0', SVC_LIMITS__API_PER_MINUTE: '0' };
/** A fleet of five versions; each connection begins with another machine. */
const PATHS = Array.from(
  { length: 80 },
  (_, n) => `/api/updateservice/v1/check?product=bench&version=0.${n % 5}&instance_id=machine-${n}`,
);

const small = (content: string): Buffer =>
  gzipSync(Buffer.concat([tarEntry({ name: 'app.txt', content }), Buffer.alloc(1024)]), { level: 1 });

async function publish(service: TestService, token: string, version: string): Promise<void> {
  const response = await fetch(`${service.url}/api/updateservice/v1/publish?product=bench&version=${version}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
    body: small(version),
  });
  if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
  await response.body?.cancel();
}

export async function releases(say: Say, rounds: number, seconds: number): Promise<void> {
  await checks(say, rounds, seconds);
  await memory(say);
}

async function checks(say: Say, rounds: number, seconds: number): Promise<void> {
  const service = await TestService.started(UNLIMITED);
  try {
    await service.project('bench');
    const token = await service.token('updateservice:publish');
    for (let n = 0; n < 10; n++) await publish(service, token, `1.${n}`);
    const body = await (await fetch(service.url + (PATHS[0] ?? ''))).text();
    const bare = await bareServer('./bare-check.js', [String(body.length)]);
    try {
      const theirs = { method: 'GET' as const, paths: PATHS.map(() => '/check'), url: bare.url };
      const medians: number[] = [];
      for (const count of [10, MANY]) {
        if (count > 10) await more(service, count);
        // Its address is another one after a restart.
        const ours = { method: 'GET' as const, paths: PATHS, url: service.url };
        const pid = service.child?.pid ?? 0;
        say(
          `\nUpdate checks among ${count} releases, ${body.length} bytes an answer, 16 connections, ${rounds} rounds of ${seconds} s`,
        );
        await load({ ...theirs, seconds: 8 });
        await load({ ...ours, seconds: 8 });
        const ratios: number[] = [];
        const work: number[] = [];
        for (let round = 0; round < rounds; round++) {
          const a = await watched(bare.pid, seconds, () => load({ ...theirs, seconds }));
          const b = await watched(pid, seconds, () => load({ ...ours, seconds }));
          say(`${row('bare hapi GET', a)}   ${a.cpu.toFixed(0)} µs CPU`);
          say(`${row('check', b)}   ${b.cpu.toFixed(0)} µs CPU`);
          ratios.push(b.perSecond / a.perSecond);
          work.push(a.cpu / b.cpu);
          if (b.non2xx + b.errors > 0) throw new Error('the service refused checks');
        }
        medians.push(median(ratios));
        say(`  ratio ${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})`);
        say(`  by processor time ${median(work).toFixed(2)} (${work.map((ratio) => ratio.toFixed(2)).join(' ')})`);
      }
      const [few = NaN, many = NaN] = medians;
      say(`\n  ${MANY} releases over 10: ${(many / few).toFixed(2)}`);
    } finally {
      bare.stop();
    }
  } finally {
    await service.dispose();
  }
}

/** With the processor time of the server for each answer, in microseconds. */
async function watched(pid: number, seconds: number, run: () => Promise<Load>): Promise<Load & { cpu: number }> {
  const before = await cpuMs(pid);
  const seen = await run();
  return { ...seen, cpu: (((await cpuMs(pid)) - before) * 1000) / (seen.perSecond * seconds) };
}

/** What changed within the last minute is read again every second: nobody publishes thousands in one. */
const YESTERDAY = isoOf(Date.now() - DAY_MS);

/** As many releases, written into the store beside the stopped service: publishing them would take hours. */
async function more(service: TestService, count: number): Promise<void> {
  await service.end();
  const store = new SqliteStore({ path: join(service.dataDir, 'aos.db') });
  await store.connect();
  const docs = store.collection<ReleaseDoc>('releases_releases');
  const texts = store.collection<ManifestPart>('releases_manifests');
  const [newest] = (await docs.find({ sort: [['published_at', 'desc']], limit: 1 })).items;
  if (newest === undefined) throw new Error('nothing was published');
  const idOf = (version: string): string => releaseId(newest.product, newest.channel, version, newest.platform);
  const versions = Array.from({ length: count - 10 }, (_, n) => `1.${n + 10}`);
  for (let at = 0; at < versions.length; at += 500) {
    const part = versions
      .slice(at, at + 500)
      .map((version) => Object.assign({}, newest, { version, id: idOf(version), updated_at: YESTERDAY }));
    await docs.bulk(part.map((insert) => ({ insert })));
  }
  // Only the newest is offered, so only its manifest is read.
  const last = idOf(versions.at(-1) ?? '');
  for (const part of (await texts.find({ filter: { release_id: newest.id } })).items) {
    await texts.insert({ ...part, id: part.id.replace(newest.id, last), release_id: last });
  }
  await store.close();
  await service.start();
}

/** A package of files of 64 MiB that cannot be compressed, as it is made. */
function* tar(bytes: number): Generator<Buffer> {
  const piece = randomBytes(4 * MIB);
  const file = 16 * piece.length;
  for (let n = 0; n * file < bytes; n++) {
    yield tarHeader({ name: `part-${n}.bin`, size: file });
    for (let i = 0; i < 16; i++) yield piece;
  }
  yield Buffer.alloc(1024);
}

async function memory(say: Say): Promise<void> {
  const service = await TestService.started({ ...UNLIMITED, SVC_LIMITS__PACKAGE_BYTES: String(4 * 1024 * MIB) });
  try {
    await service.project('bench');
    const token = await service.token('updateservice:publish');
    await publish(service, token, '0.1');
    const pid = service.child?.pid ?? 0;
    const idle = await residentMb(pid);
    let most = idle;
    const watch = setInterval(() => void residentMb(pid).then((now) => (most = Math.max(most, now))), 50);
    const began = performance.now();
    const status = await new Promise<number>((resolve, reject) => {
      const sent = request(
        `${service.url}/api/updateservice/v1/publish?product=bench&version=1.0`,
        { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' } },
        (answer) => {
          answer.resume();
          answer.once('end', () => resolve(answer.statusCode ?? 0));
        },
      );
      sent.once('error', reject);
      Readable.from(tar(PACKAGE))
        .pipe(createGzip({ level: 0 }))
        .pipe(sent);
    });
    const took = (performance.now() - began) / 1000;
    clearInterval(watch);
    say(`\nPublishing ${(PACKAGE / MIB).toFixed(0)} MiB: ${status} in ${took.toFixed(1)} s`);
    say(`  memory ${idle.toFixed(0)} MB idle, ${most.toFixed(0)} MB at most: ${(most - idle).toFixed(0)} MB above`);
    if (status !== 201) throw new Error(`publish answered ${status}`);
  } finally {
    await service.dispose();
  }
}

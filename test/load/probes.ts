/**
 * 2,000 probes a minute against a server of this machine, for half a minute: how many were asked, and the longest time
 * for which the event loop stood still. `node dist/test/load/probes.js [seconds]`.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Worker, isMainThread, parentPort } from 'node:worker_threads';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SystemClock } from '../../adapters/node/clock.js';
import { MemoryStore } from '../../adapters/memory/store.js';
import { probesOn } from '../plugins/probes/fixture.js';
import type { ManualClock } from '../../testing/clock.js';

const PROBES = 2_000;
const INTERVAL = 60;

if (isMainThread) await main(Number(process.argv[2] ?? 30));
else answerAll();

/** Every tenth is slow, every hundredth never answers. */
function answerAll(): void {
  let n = 0;
  const server = createServer((_request, response) => {
    n += 1;
    if (n % 100 === 0) return;
    setTimeout(() => response.end('{"state":"green"}'), n % 10 === 0 ? 500 : 0);
  });
  server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port, []));
}

async function main(seconds: number): Promise<void> {
  const worker = new Worker(fileURLToPath(import.meta.url));
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const clock = new SystemClock() as unknown as ManualClock;
  const { deps, probes, prober, told } = probesOn(new MemoryStore(), { clock });
  for (let i = 0; i < PROBES; i++) {
    const source = `web-${i}`;
    const probe = {
      kind: 'http',
      url: `http://127.0.0.1:${port}/${i}`,
      json_path: 'state',
      interval_seconds: INTERVAL,
      timeout_ms: 5_000,
    };
    await probes.save(source, await probes.check(probe, source));
  }
  // As those of a service that runs: what was written lately is looked through again and again.
  await deps.probes.changeMany({}, { set: { updated_at: '2026-01-01T00:00:00.000Z' } });
  const idle = await stood(5);
  prober.start();
  // The first look reads all of them at once.
  await wait(3_000);
  told.length = 0;
  const busy = await stood(seconds);
  const asked = told.length;
  await prober.stop();
  await worker.terminate();
  process.stdout.write(
    `${asked} askings in ${seconds} s (${Math.round((asked * 60) / seconds)} a minute), ` +
      `event loop: ${busy}; idle, on the same machine: ${idle}\n`,
  );
}

/** How long the event loop stood still, other programs of the machine included. */
async function stood(seconds: number): Promise<string> {
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  await wait(seconds * 1_000);
  loop.disable();
  const ms = (ns: number): string => (ns / 1e6).toFixed(1);
  return `p99 ${ms(loop.percentile(99))} ms, longest ${ms(loop.max)} ms`;
}

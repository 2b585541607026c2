/**
 * `npm run bench [-- part…]`: throughput, pages, memory, peers, agent; the first two when none is
 * named. Any other word selects calls of the throughput part by name. `BENCH_AGAINST=<folder>` adds
 * another checkout that is built, `BENCH_ROUNDS`, `BENCH_SECONDS`, `BENCH_ITEMS` and
 * `BENCH_MINUTES` change the amounts.
 *
 * Machines are noisy: compare figures of one run only.
 */
import { measureAgent } from './agent/figures.js';
import { measureMemory } from './memory.js';
import { measurePages } from './pages.js';
import { measurePeers } from './peers.js';
import { measureThroughput, type BenchOptions } from './throughput.js';

const readNumber = (name: string, fallback: number): number => Number(process.env[`BENCH_${name}`] ?? fallback);
const against = process.env['BENCH_AGAINST'];
const options: BenchOptions = {
  print: (line) => void process.stdout.write(`${line}\n`),
  rounds: readNumber('ROUNDS', 5),
  seconds: readNumber('SECONDS', 5),
  ...(against !== undefined && { against }),
};
const parts: Record<string, () => Promise<void>> = {
  throughput: () => measureThroughput(options),
  pages: () => measurePages(options, readNumber('ITEMS', 100_000)),
  memory: () => measureMemory(options, readNumber('MINUTES', 10)),
  peers: () => measurePeers(options),
  agent: () => measureAgent(options.print),
};
options.print(`Node ${process.version}, ${process.platform} ${process.arch}`);
const words = process.argv.slice(2);
for (const name of words.length === 0 ? ['throughput', 'pages'] : words.filter((word) => word in parts))
  await parts[name]?.();
const calls = words.filter((word) => !(word in parts));
if (calls.length > 0) await measureThroughput(options, calls);

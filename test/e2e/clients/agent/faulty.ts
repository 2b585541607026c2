/**
 * The agent with hooks, for tests alone: `FAULT_AT=n` kills it at the n-th point,
 * `FAULT_COUNT=<file>` lists the points, `FAULT_THROW=<name>` throws an error that no promise waits
 * for at the points of that name, `FAULT_FILL='n <file>'` fills the disk at the n-th, and
 * `FAULT_COPY='<folder> <to>'` copies a folder, as it is at the n-th, to `<to>/<n>`.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_HOOKS, type Hooks } from '../../../../clients/agent/hooks.js';
import { runAgent } from '../../../../clients/agent/run.js';

const { FAULT_AT, FAULT_COUNT, FAULT_FILL, FAULT_COPY, FAULT_THROW } = process.env;
const [fillAt, ballast] = (FAULT_FILL ?? '').split(' ');
const [copied, copies] = (FAULT_COPY ?? '').split(' ');
let point = 0;

function fill(path: string): void {
  for (const size of [65_536, 4_096, 1])
    try {
      for (;;) appendFileSync(path, Buffer.alloc(size));
    } catch {
      // Full, as far as this size goes.
    }
}

const hooks: Hooks = {
  ...DEFAULT_HOOKS,
  at: (name, path) => {
    point++;
    if (FAULT_COUNT !== undefined) appendFileSync(FAULT_COUNT, `${name} ${path}\n`);
    // With owners, modes, links and second names.
    if (copied && copies && existsSync(copied)) execFileSync('cp', ['-a', copied, join(copies, String(point))]);
    if (point === Number(fillAt) && ballast !== undefined) fill(ballast);
    if (name === FAULT_THROW)
      setImmediate(() => {
        throw new Error('of a library');
      });
    if (point === Number(FAULT_AT)) process.kill(process.pid, 'SIGKILL');
  },
};
void runAgent(process.argv.slice(2), process.env, process.argv[1] ?? '', hooks).then(
  (code) => (process.exitCode = code),
);

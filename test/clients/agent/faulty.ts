/**
 * The agent with hooks, for tests alone: `FAULT_AT=n` kills it at the n-th point, `FAULT_COUNT=<file>` lists the points, and
 * `FAULT_FILL='n <file>'` fills the disk at the n-th.
 */
import { appendFileSync } from 'node:fs';
import { HOOKS, type Hooks } from '../../../clients/agent/hooks.js';
import { run } from '../../../clients/agent/run.js';

const { FAULT_AT, FAULT_COUNT, FAULT_FILL } = process.env;
const [fillAt, ballast] = (FAULT_FILL ?? '').split(' ');
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
  ...HOOKS,
  at: (name, path) => {
    point++;
    if (FAULT_COUNT !== undefined) appendFileSync(FAULT_COUNT, `${name} ${path}\n`);
    if (point === Number(fillAt) && ballast !== undefined) fill(ballast);
    if (point === Number(FAULT_AT)) process.kill(process.pid, 'SIGKILL');
  },
};
void run(process.argv.slice(2), process.env, process.argv[1] ?? '', hooks).then((code) => (process.exitCode = code));

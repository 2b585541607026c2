/**
 * The agent with hooks, for tests alone: `FAULT_AT=n` kills it at the n-th point, `FAULT_COUNT=<file>` counts the points, and
 * `FAULT_RATE` shortens how long a slow server is watched.
 */
import { appendFileSync } from 'node:fs';
import { HOOKS, type Hooks } from '../../../clients/agent/hooks.js';
import { run } from '../../../clients/agent/run.js';

const { FAULT_AT, FAULT_COUNT, FAULT_RATE } = process.env;
let point = 0;
const hooks: Hooks = {
  ...HOOKS,
  at: (name, path) => {
    point++;
    if (FAULT_COUNT !== undefined) appendFileSync(FAULT_COUNT, `${name} ${path}\n`);
    if (point === Number(FAULT_AT)) process.kill(process.pid, 'SIGKILL');
  },
  ...(FAULT_RATE === undefined ? {} : { leastRate: { bytesPerSecond: 1024, overMs: Number(FAULT_RATE) } }),
};
process.exitCode = await run(process.argv.slice(2), process.env, process.argv[1] ?? '', hooks);

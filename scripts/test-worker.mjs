// One lane of scripts/test.mjs: gets the path of a compiled test file, runs it, answers what came of it.
import Mocha from 'mocha';
import { readdirSync, readFileSync } from 'node:fs';
import 'reflect-metadata';
import '../dist/test/support/compiled-views.js';

/** The error as a person reads it; mocha's own reporter is not used, because lanes would write over each other. */
const textOf = (error) => {
  const { actual, expected, showDiff } = error;
  const diff = showDiff ? `\n  actual:   ${JSON.stringify(actual)}\n  expected: ${JSON.stringify(expected)}` : '';
  return `${error.stack ?? String(error)}${diff}`.slice(0, 8000);
};

/** mocha wants a reporter; the parent is ours. */
function silent() {}

async function run(file) {
  const mocha = new Mocha({ timeout: 30_000, reporter: silent });
  mocha.addFile(file);
  await mocha.loadFilesAsync();
  return new Promise((resolve) => {
    const failures = [];
    const ran = [];
    const runner = mocha.run(() => {
      const { passes, pending } = runner.stats;
      // Otherwise each file leaves its listeners on the process.
      runner.dispose();
      resolve({ passed: passes, skipped: pending, ran, failures });
    });
    // Only the words by which the runner knows what was tested travel back.
    runner.on('pass', (test) => ran.push(test.fullTitle().toLowerCase()));
    runner.on('fail', (test, error) => failures.push({ title: test.fullTitle(), text: textOf(error) }));
  });
}

/**
 * CPU time in ms of a process, of its children that have ended, and of those that live, as the browser that the files
 * of a lane share; 0 where the system does not say.
 */
function cpuMs(pid = process.pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // utime, stime, cutime, cstime (proc(5) counts from 1, and two come before the name's end); a tick is 10 ms.
    const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
    return childrenOf(pid).reduce((sum, child) => sum + cpuMs(child), own);
  } catch {
    // It has just ended, and is counted with its parent.
    return 0;
  }
}

const childrenOf = (pid) =>
  readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );

/** What files left outside of this process goes with it (test/support/lane-end.ts). */
globalThis.laneEnds = [];

// The runner is through, or gone. What the files left open ends with the process.
async function end() {
  const ended = await Promise.allSettled(globalThis.laneEnds.map((work) => work()));
  for (const { reason } of ended) if (reason !== undefined) console.error(reason);
  process.exit();
}
process.on('disconnect', () => void end());

process.on('message', (file) => {
  const before = cpuMs();
  run(file).then(
    (result) => process.send({ ...result, cpuMs: cpuMs() - before }),
    (error) =>
      process.send({
        passed: 0,
        skipped: 0,
        ran: [],
        failures: [{ title: file, text: error.stack ?? String(error) }],
        cpuMs: cpuMs() - before,
      }),
  );
});

// One lane of scripts/test.mjs: gets the path of a compiled test file, runs it, answers what came of it.
import Mocha from 'mocha';
import { readFileSync } from 'node:fs';
import 'reflect-metadata';

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

/** CPU time in ms of this process and of its children that have ended; 0 where the system does not say. */
function cpuMs() {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // utime, stime, cutime, cstime (proc(5) counts from 1, and two come before the name's end); a tick is 10 ms.
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
  } catch {
    return 0;
  }
}

// The runner is through, or gone. What the files left open ends with the process.
process.on('disconnect', () => process.exit());

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

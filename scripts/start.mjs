// `npm start`: builds the service and runs it in this process. npm forwards SIGINT and SIGTERM to it, because `exec`
// in package.json leaves no shell between the two. (cmd.exe knows no `exec` and runs what follows it.) It also ends
// when its parent is gone: npm that was killed forwards nothing, and would leave a server behind.
// A service that outlives the terminal is started with `node dist/main.js serve` (docs/operations.md, start).
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_MS = 1_000;

/** Exit code of the build. A signal ends it, and this process with it. */
function build() {
  const child = spawn('npm', ['run', 'build', '--silent'], { stdio: 'inherit', shell: process.platform === 'win32' });
  const stop = (signal) => child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, stop);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      for (const signal of SIGNALS) process.off(signal, stop);
      resolve(code ?? 1);
    });
  });
}

const parent = process.ppid;
const check = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(check);
  process.kill(process.pid, 'SIGTERM');
}, PARENT_CHECK_MS);
check.unref();

console.log('Building…');
const code = await build();
if (code !== 0) process.exit(code);
process.argv = [process.argv[0], join(import.meta.dirname, '..', 'dist', 'main.js'), 'serve', ...process.argv.slice(2)];
await import('../dist/main.js');

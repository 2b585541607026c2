// `npm start`: builds the service and runs it in this process. `exec` in package.json removes the
// shell in between, so that npm forwards SIGINT and SIGTERM (cmd.exe ignores `exec`). It also ends
// when its parent is gone, because a killed npm forwards nothing. To outlive the terminal, use
// `node dist/cli/main.js serve` (docs/operations.md, start).
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_MS = 1_000;

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

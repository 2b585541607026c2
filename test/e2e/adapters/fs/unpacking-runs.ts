/** Kills unpacking-process.ts at moments of its work. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, 'unpacking-process.js');

/** Kills the process a while after it printed the line. @param target folder, or URL of MongoDB */
export async function runUntilKilled(target: string, line: string, ms: number): Promise<void> {
  const child = spawn(process.execPath, [PROGRAM, target], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  const ended = new Promise((resolve) => child.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`it exited with ${code}`)));
    child.stdout.on('data', (piece: Buffer) => {
      printed += piece.toString();
      if (printed.includes(`${line}\n`)) resolve();
    });
  });
  await new Promise((resolve) => setTimeout(resolve, ms));
  child.kill('SIGKILL');
  await ended;
}

/** Programs in Python: installed by pip into an environment of their own, and run as processes. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_MS = 600_000;
const COMMAND_MS = 300_000;
const START_MS = 60_000;

/** Why a peer is left out, in words for the report. */
export class NotToBeHad extends Error {}

export interface Environment {
  /** Runs one of its programs to the end, in `cwd`. Answers its output. */
  run: (program: string, args: readonly string[], cwd: string) => Promise<string>;
  /** Starts one of its programs, in `cwd`. */
  start: (program: string, args: readonly string[], cwd: string) => ChildProcess;
  /** The installed version of a package. */
  version: (name: string) => Promise<string>;
}

/** @param folder for the environment. @throws NotToBeHad */
export async function environment(folder: string, packages: readonly string[]): Promise<Environment> {
  const bin = (program: string): string => join(folder, 'bin', program);
  const env = (cwd: string): NodeJS.ProcessEnv => ({ ...process.env, PYTHONPATH: cwd });
  try {
    await run('python3', ['-m', 'venv', folder], { timeout: INSTALL_MS });
    const quietly = ['--disable-pip-version-check', '--quiet', '--no-input'];
    await run(bin('pip'), ['install', ...quietly, ...packages], { timeout: INSTALL_MS });
  } catch (error) {
    throw new NotToBeHad(`pip could not install ${packages.join(' ')}: ${lastLine((error as Error).message)}`);
  }
  return {
    run: async (program, args, cwd) => {
      const options = { cwd, env: env(cwd), timeout: COMMAND_MS, maxBuffer: 16 * 1024 * 1024 };
      return (await run(bin(program), [...args], options)).stdout;
    },
    start: (program, args, cwd) => spawn(bin(program), [...args], { cwd, env: env(cwd), stdio: 'ignore' }),
    version: async (name) => {
      const { stdout } = await run(bin('pip'), ['show', '--disable-pip-version-check', name], { timeout: COMMAND_MS });
      return /^Version: (\S+)$/m.exec(stdout)?.[1] ?? 'unknown';
    },
  };
}

/** The process and all that it has started (Linux). */
export async function family(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const below = await Promise.all(
    children
      .split(' ')
      .filter(Boolean)
      .map((child) => family(Number(child))),
  );
  return [pid, ...below.flat()];
}

/** A port of loopback that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Resolves once something answers there. @throws NotToBeHad after a minute */
export async function answering(url: string): Promise<void> {
  const until = Date.now() + START_MS;
  while (Date.now() < until) {
    const answer = await fetch(url, { redirect: 'manual' }).catch(() => null);
    await answer?.body?.cancel();
    if (answer !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new NotToBeHad(`nothing answered at ${url} within a minute`);
}

/** Ends a process and waits for that. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(killer);
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';

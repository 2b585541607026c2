/**
 * Servers that stand next to each other in one run: this build, another build, a bare hapi server.
 */
import { execFile, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TestService } from '../support/service.js';

export interface Server {
  name: string;
  url: string;
  pids: () => Promise<readonly number[]>;
  /**
   * Runs a command of that build on its store and returns what it prints as JSON. Builds of this
   * service only.
   */
  run?: (words: readonly string[]) => Promise<Record<string, unknown>>;
  /** Resolves when everything that was accepted is processed. */
  waitUntilDone?: () => Promise<void>;
  stop: () => Promise<void>;
}

/** Starts the bare server in a process of its own. */
export async function startBare(): Promise<Server> {
  const path = fileURLToPath(new URL('./bare.js', import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((started, reject) => {
    child.on('error', reject).on('exit', (code) => reject(new Error(`the bare server exited with ${code}`)));
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /listening on (\S+)/.exec(chunk.toString('utf8'))?.[1];
      if (found !== undefined) started(found);
    });
  });
  const stop = async (): Promise<void> => void child.kill();
  return { name: 'bare hapi', url, pids: async () => [child.pid ?? 0], stop };
}

/**
 * Starts a build of the service on an empty store.
 * @param checkout folder of another checkout that is built. This build when not set.
 */
export async function startService(settings: Record<string, string>, checkout?: string): Promise<Server> {
  TestService.asUsersRunIt = true;
  const service = await TestService.createEmpty(settings);
  if (checkout !== undefined) service.cli = join(resolve(checkout), 'dist', 'cli', 'main.js');
  await service.start();
  return {
    name: checkout ?? 'AOS',
    url: service.url,
    pids: async () => [service.child?.pid ?? 0],
    run: async (words) => {
      const { stdout } = await promisify(execFile)(process.execPath, [service.cli, ...words, '--json'], {
        env: service.env,
      });
      return JSON.parse(stdout) as Record<string, unknown>;
    },
    stop: () => service.dispose(),
  };
}

/** Runs the update agent in the process of its test, and looks at installations. */
import { createHash } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DEFAULT_HOOKS, type Hooks } from '../../../clients/agent/hooks.js';
import type { OutputStream } from '../../../clients/agent/output.js';
import { runAgent } from '../../../clients/agent/run.js';
import { resolveProgram } from '../../support/bundled-programs.js';
import type { SigningKeys, TestRelease, SourceFile } from '../../support/release-server.js';

export const MAIN = resolveProgram('clients/agent/main.js', 'agent.cjs');
export interface Ran {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export const AROUND = { PATH: process.env.PATH ?? '', HOME: tmpdir(), NO_PROXY: '127.0.0.1,localhost' };

/** The agent's own entry point, with what it prints. */
export async function runHere(
  args: readonly string[],
  env: Record<string, string> = {},
  hooks: Partial<Hooks> = {},
): Promise<Ran> {
  const texts = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof texts): OutputStream => ({ write: (text) => (texts[name] += text) });
  const own = { ...DEFAULT_HOOKS, retryMs: [1, 1], ...hooks };
  const code = await runAgent(args, env, MAIN, own, { stdout: sink('stdout'), stderr: sink('stderr') });
  return { code, signal: null, ...texts };
}

/** In this process, with the variables of a program that `runAgent` starts. */
export const runAlike = (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  runHere(args, { ...AROUND, ...env });

export async function scratch(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'aos-agent-'));
}

/** An installation of a release, as the agent would have left it, but without `.update-agent`. */
export async function install(dir: string, release: { manifest: string; files: readonly SourceFile[] }): Promise<void> {
  for (const { path, content, mode } of release.files) {
    await mkdir(dirname(join(dir, path)), { recursive: true, mode: 0o755 });
    await writeFile(join(dir, path), content, { mode: Number.parseInt(mode ?? '0644', 8) });
  }
  await writeFile(join(dir, 'manifest.json'), release.manifest, { mode: 0o644 });
}

/** What `--package` wants in one folder, with the key for a machine that knows only its hash. */
export async function offlinePackage(folder: string, release: TestRelease, keys: SigningKeys): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.tar.gz'), release.archive);
  await writeFile(join(folder, 'manifest.json'), release.manifest);
  if (release.signature !== null) await writeFile(join(folder, 'manifest.sig'), `${release.signature}\n`);
  await writeFile(join(folder, 'pubkey.pem'), keys.pem);
  return join(folder, 'package.tar.gz');
}

/**
 * Every path but those of the agent, with kind, mode, owner and bytes: two equal trees are one
 * installation.
 */
export async function treeOf(dir: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const walk = async (folder: string, prefix: string): Promise<void> => {
    for (const name of (await readdir(folder)).sort()) {
      if (prefix === '' && name === '.update-agent') continue;
      const path = join(folder, name);
      const stats = await lstat(path);
      const owner = `${(stats.mode & 0o7777).toString(8)} ${stats.uid}:${stats.gid}`;
      if (stats.isDirectory()) {
        found[`${prefix}${name}/`] = owner;
        await walk(path, `${prefix}${name}/`);
      } else if (stats.isSymbolicLink()) found[`${prefix}${name}`] = `link ${await readlink(path)}`;
      else if (stats.isFile())
        found[`${prefix}${name}`] = `${owner} ${createHash('sha256')
          .update(await readFile(path))
          .digest('hex')}`;
      else found[`${prefix}${name}`] = 'other';
    }
  };
  await walk(dir, '');
  return found;
}

export const remove = (dir: string): Promise<void> => rm(dir, { recursive: true, force: true });

/**
 * As root in another user's installation (contract 90, where it writes): all but stopping and starting a service runs in a
 * child as that user, so that nothing in his tree can make root write elsewhere. The child asks this process for the service;
 * its name comes from the options that root read.
 */
import { spawn, type StdioOptions } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { isSea } from 'node:sea';
import { codeOf, EXIT, Failure } from './exit.js';
import { secretOf } from './secrets.js';
import type { Agent } from './update/installation.js';
import { controlService, type ServiceControl, type Verb } from './update/service.js';

export interface Owner {
  uid: number;
  gid: number;
  name: string | null;
  home: string | null;
}

/** Says to the child that it has a parent to ask. */
const MARK = 'UPDATE_AGENT_CHILD';

interface Wish {
  id: number;
  verb: Verb;
}
interface Done {
  id: number;
  error: string | null;
}

/** Null: the process stays who it is. */
export async function ownerToBecome(dir: string): Promise<Owner | null> {
  if (process.geteuid?.() !== 0) return null;
  const stats = await stat(dir).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (stats === null || stats.uid === 0) return null;
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const fields = users.split('\n').map((line) => line.split(':'));
  const user = fields.find(([, , uid]) => uid === String(stats.uid));
  return { uid: stats.uid, gid: Number(user?.[3] ?? stats.gid), name: user?.[0] ?? null, home: user?.[5] ?? null };
}

/** @returns the child's exit code */
export async function asOwner(owner: Owner, { options, signal, env, ownFile }: Agent): Promise<number> {
  const secrets = { SVC_PASSWORD: options.password ?? undefined, SVC_PRODUCT_KEY: options.licenseKey ?? undefined };
  const around: NodeJS.ProcessEnv = {
    ...env,
    ...secrets,
    HOME: owner.home ?? '/',
    USER: owner.name ?? String(owner.uid),
    [MARK]: '1',
  };
  delete around.SVC_PASSWORD_FILE;
  delete around.SVC_PRODUCT_KEY_FILE;
  // Files that only root may read.
  for (const [, name] of Object.keys(env).map((variable) => /^(SVC_SET_.+)_FILE$/.exec(variable) ?? [])) {
    if (name === undefined) continue;
    around[name] = (await secretOf(env, name)) ?? undefined;
    delete around[`${name}_FILE`];
  }
  const args = [...(isSea() ? [] : [...process.execArgv, ownFile]), ...process.argv.slice(2)];
  const stdio: StdioOptions = ['inherit', 'inherit', 'inherit', 'ipc'];
  const child = spawn(process.execPath, args, { uid: owner.uid, gid: owner.gid, env: around, stdio });
  signal.addEventListener('abort', () => child.kill('SIGTERM'));
  child.on('message', (wish: Wish) => {
    serve(wish, options.restart ? options.service : null)
      .then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      )
      .then((error) => child.send({ id: wish.id, error } satisfies Done))
      .catch(() => undefined); // The child has ended meanwhile.
  });
  return new Promise<number>((resolve, reject) => {
    child.once('error', (error) =>
      reject(new Failure('spaceOrPermission', `the agent cannot run as user ${owner.uid}: ${error.message}`)),
    );
    child.once('exit', (code, name) => resolve(code ?? 128 + (name === null ? EXIT.error : constants.signals[name])));
  });
}

async function serve({ verb }: Wish, service: string | null): Promise<void> {
  if (service === null) throw new Failure('error', 'no service is named');
  if (verb === 'stop' || verb === 'start') await controlService(verb, service);
}

/** In the child: asks the parent. Null: this process is no child. */
export function parentControl(): ServiceControl | null {
  if (process.env[MARK] !== '1' || process.send === undefined) return null;
  // The channel must not keep a process alive that has nothing else to do.
  process.channel?.unref();
  let last = 0;
  return async (verb) => {
    const id = ++last;
    process.channel?.ref();
    const done = await new Promise<Done>((resolve, reject) => {
      const answered = (message: Done): void => {
        if (message.id !== id) return;
        process.off('message', answered);
        resolve(message);
      };
      process.on('message', answered);
      process.once('disconnect', () =>
        reject(new Failure('error', 'the process that could control the service has ended')),
      );
      process.send?.({ id, verb } satisfies Wish);
    });
    process.channel?.unref();
    if (done.error !== null) throw new Failure('error', done.error);
  };
}

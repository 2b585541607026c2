/**
 * The command of a nightly update. What its run would read otherwise than this run goes into the command; what can
 * stand in none, a secret say, is refused by its name, so that what was tried is what runs.
 */
import { dirname, resolve } from 'node:path';
import { isSea } from 'node:sea';
import { AgentFailure } from '../exit.js';
import { readOptions, type CheckedOptions } from '../options.js';
import type { NightlyScheduler } from '../options/table.js';
import { resolveRootProgram } from '../system/programs.js';
import type { Agent } from '../update/installation.js';

type Words = (options: CheckedOptions) => string | boolean | null;

/** Written into `agent.json` of the installation. */
const STORED: Readonly<Record<string, Words>> = {
  server: ({ server }) => server?.href ?? null,
  username: ({ username }) => username,
  'password-file': ({ passwordFile }) => passwordFile,
  'machine-id': ({ machineId }) => machineId,
  'allow-http': ({ allowHttp }) => allowHttp,
  'require-signed': ({ requireSigned }) => requireSigned,
};
const CARRIED: Readonly<Record<string, Words>> = {
  project: ({ project }) => project,
  channel: ({ channel }) => channel,
  platform: ({ platform }) => platform,
  'ca-file': ({ caFile }) => caFile,
  pin: ({ pin }) => pin,
  restart: ({ restart }) => restart,
  'wait-seconds': ({ waitSeconds }) => String(waitSeconds),
};
/** Secrets, and what is meant for one run. */
const NEVER_CARRIED: Readonly<Record<string, Words>> = {
  'license-key': ({ licenseKey }) => licenseKey,
  password: ({ password }) => password,
  service: ({ service }) => service,
  'allow-unsigned': ({ allowUnsigned }) => allowUnsigned,
  'current-version': ({ currentVersion }) => currentVersion,
  package: (options) => options.package,
  'wait-for-pid': ({ waitForPid }) => (waitForPid === null ? null : String(waitForPid)),
};

const PROXY = /^(https?|all)_proxy$/i;
const ENV_PROGRAM = '/usr/bin/env';
const NETWORK = /^((https?|all|no)_proxy|NODE_EXTRA_CA_CERTS)$/i;

/**
 * The running program, in the place where it is now.
 * @throws AgentFailure usage: as root, someone else could replace it
 */
export async function resolveProgram(ownFile: string): Promise<string[]> {
  const files = isSea() ? [process.execPath] : [process.execPath, resolve(ownFile)];
  return Promise.all(files.map(resolveRootProgram));
}

/**
 * @param file which the nightly run reads
 * @param isStored options of this run will be stored in the installation's own file
 * @throws AgentFailure usage: the nightly run would read something else
 */
export async function buildNightlyCommand(
  { options, env, ownFile, output }: Pick<Agent, 'options' | 'env' | 'ownFile' | 'output'>,
  {
    program,
    scheduler,
    file,
    isStored,
  }: { program: string[]; scheduler: NightlyScheduler; file: string; isStored: boolean },
): Promise<string[]> {
  const read = (words: readonly string[]): Promise<CheckedOptions> => readOptions(words, {}, dirname(ownFile));
  const base = ['--action', 'update', '--dir', options.dir];
  if (options.config !== null) base.push('--config', options.config);
  // Without it the address of the server may be refused while options are read.
  const http = options.allowHttp ? ['--allow-http'] : [];
  const files = await read([...base, ...http]);
  const carried = isStored ? CARRIED : { ...STORED, ...CARRIED };
  const args = [...base, ...(isStored ? [] : http)];
  for (const [name, getValue] of Object.entries(carried))
    if (getValue(options) !== getValue(files)) args.push(...toWords(name, getValue(options)));

  const stored = isStored ? listStored(options) : [];
  const nightly = await read([...args, ...stored]);
  const others = Object.entries({ ...STORED, ...CARRIED, ...NEVER_CARRIED })
    .filter(([, getValue]) => getValue(options) !== getValue(nightly))
    .map(([name]) => name);
  if (others.length > 0)
    throw new AgentFailure(
      'usage',
      `the nightly run would not have the ${others.join(', ')} of this one: leave it out, or write it into ${file}`,
    );
  return [...(await buildEnvironment({ env, output }, scheduler)), ...program, ...args];
}

const listStored = (options: CheckedOptions): string[] => [
  ...Object.entries(STORED).flatMap(([name, getValue]) => toWords(name, getValue(options))),
  ...toWords('license-key', options.licenseKey),
];

const toWords = (name: string, value: string | boolean | null): string[] => {
  if (value === null || value === false) return [];
  return [value === true ? `--${name}` : `--${name}=${value}`];
};

/** Schedulers start a program with next to no variables. */
async function buildEnvironment(
  { env, output }: Pick<Agent, 'env' | 'output'>,
  scheduler: NightlyScheduler,
): Promise<string[]> {
  const names = Object.keys(env).filter((name) => NETWORK.test(name) && (env[name] ?? '').trim() !== '');
  if (!names.some((name) => PROXY.test(name) || name === 'NODE_EXTRA_CA_CERTS')) return [];
  if (scheduler === 'task') {
    output.warning(
      `the task has ${names.join(', ')} only where they are variables of the system, not of this terminal`,
    );
    return [];
  }
  const secret = names.find((name) => PROXY.test(name) && (env[name] ?? '').includes('@'));
  if (secret !== undefined)
    throw new AgentFailure('usage', `${secret} holds a password, which a schedule must not show: use a proxy without`);
  // One of several names of a program that behaves by its name, so its link stays.
  await resolveRootProgram(ENV_PROGRAM);
  return [ENV_PROGRAM, ...names.map((name) => `${name}=${env[name] ?? ''}`)];
}

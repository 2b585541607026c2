/**
 * Options of this run become arguments; secrets are rejected by name, so that exactly the tested
 * command runs.
 */
import { dirname, resolve } from 'node:path';
import { isSea } from 'node:sea';
import { AgentFailure } from '../exit.js';
import { readOptions, type CheckedOptions } from '../options/index.js';
import type { NightlyScheduler } from '../options/table.js';
import { resolveRootProgram } from '../system/programs.js';
import type { Agent } from '../update/installation.js';

type OptionReader = (options: CheckedOptions) => string | boolean | null;

const STORED_OPTIONS: Readonly<Record<string, OptionReader>> = {
  server: ({ server }) => server?.href ?? null,
  username: ({ username }) => username,
  'password-file': ({ passwordFile }) => passwordFile,
  'machine-id': ({ machineId }) => machineId,
  'allow-http': ({ allowHttp }) => allowHttp,
  'require-signed': ({ requireSigned }) => requireSigned,
};
const ARGUMENT_OPTIONS: Readonly<Record<string, OptionReader>> = {
  project: ({ project }) => project,
  channel: ({ channel }) => channel,
  platform: ({ platform }) => platform,
  'ca-file': ({ caFile }) => caFile,
  pin: ({ pin }) => pin,
  restart: ({ restart }) => restart,
  'wait-seconds': ({ waitSeconds }) => String(waitSeconds),
  'max-delta-percent': ({ maxDeltaPercent }) => String(maxDeltaPercent),
  'keep-backups': ({ keepBackups }) => String(keepBackups),
};
const REJECTED_OPTIONS: Readonly<Record<string, OptionReader>> = {
  'license-key': ({ licenseKey }) => licenseKey,
  password: ({ password }) => password,
  service: ({ service }) => service,
  'allow-unsigned': ({ allowUnsigned }) => allowUnsigned,
  'current-version': ({ currentVersion }) => currentVersion,
  package: (options) => options.package,
  'wait-for-pid': ({ waitForPid }) => (waitForPid === null ? null : String(waitForPid)),
};

const PROXY_PATTERN = /^(https?|all)_proxy$/i;
const ENV_PROGRAM = '/usr/bin/env';
const NETWORK_VARIABLE_PATTERN = /^((https?|all|no)_proxy|NODE_EXTRA_CA_CERTS)$/i;

/** @throws AgentFailure usage when, as root, another user could replace it */
export async function resolveProgram(ownFile: string): Promise<string[]> {
  const files = isSea() ? [process.execPath] : [process.execPath, resolve(ownFile)];
  return Promise.all(files.map(resolveRootProgram));
}

/**
 * @param isStored options of this run will be stored
 * @throws AgentFailure usage when the nightly run would read something else
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
  // Without `--action`, so that a night does not end a rollback.
  const base = ['--dir', options.dir];
  if (options.config !== null) base.push('--config', options.config);
  // Without it the server URL may be rejected while options are read.
  const http = options.allowHttp ? ['--allow-http'] : [];
  const files = await read([...base, ...http]);
  const carried = isStored ? ARGUMENT_OPTIONS : { ...STORED_OPTIONS, ...ARGUMENT_OPTIONS };
  const args = [...base, ...(isStored ? [] : http)];
  for (const [name, getValue] of Object.entries(carried))
    if (getValue(options) !== getValue(files)) args.push(...toWords(name, getValue(options)));

  const stored = isStored ? listStored(options) : [];
  const nightly = await read([...args, ...stored]);
  const others = Object.entries({ ...STORED_OPTIONS, ...ARGUMENT_OPTIONS, ...REJECTED_OPTIONS })
    .filter(([, getValue]) => getValue(options) !== getValue(nightly))
    .map(([name]) => name);
  if (others.length > 0)
    throw new AgentFailure(
      'usage',
      `the nightly run would not have the ${others.join(', ')} of this run; omit it, or write it to ${file}`,
    );
  return [...(await buildEnvironment({ env, output }, scheduler)), ...program, ...args];
}

const listStored = (options: CheckedOptions): string[] => [
  ...Object.entries(STORED_OPTIONS).flatMap(([name, getValue]) => toWords(name, getValue(options))),
  ...toWords('license-key', options.licenseKey),
];

const toWords = (name: string, value: string | boolean | null): string[] => {
  if (value === null || value === false) return [];
  return [value === true ? `--${name}` : `--${name}=${value}`];
};

async function buildEnvironment(
  { env, output }: Pick<Agent, 'env' | 'output'>,
  scheduler: NightlyScheduler,
): Promise<string[]> {
  const names = Object.keys(env).filter(
    (name) => NETWORK_VARIABLE_PATTERN.test(name) && (env[name] ?? '').trim() !== '',
  );
  if (!names.some((name) => PROXY_PATTERN.test(name) || name === 'NODE_EXTRA_CA_CERTS')) return [];
  if (scheduler === 'task') {
    output.warn(`the task has ${names.join(', ')} only if they are system variables, not variables of this terminal`);
    return [];
  }
  const secret = names.find((name) => PROXY_PATTERN.test(name) && (env[name] ?? '').includes('@'));
  if (secret !== undefined)
    throw new AgentFailure(
      'usage',
      `${secret} contains a password, which a schedule would expose; use a proxy without a password`,
    );
  // A multi-call program depends on its name, so its link stays.
  await resolveRootProgram(ENV_PROGRAM);
  return [ENV_PROGRAM, ...names.map((name) => `${name}=${env[name] ?? ''}`)];
}

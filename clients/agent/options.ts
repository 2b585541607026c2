/**
 * The options of `update-agent` (specification, "Command-line interfaces"; contract 90, update agent and "Defaults"): argv before
 * environment before the configuration file. Everything that is wrong with them is exit 64, before anything is touched.
 */
import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isVersion } from '../../lib/versions.js';
import { canonicalKey } from '../shared/license-key.js';
import { isPlatform, PLATFORMS } from '../shared/platform.js';
import { readConfig, type ConfigFile } from './config-file.js';
import { Failure } from './exit.js';
import { machineFolder } from './monitoring/folder.js';
import { secretOf } from './secrets.js';
import { serverUrl } from './net/address.js';

export const ACTIONS = ['update', 'install', 'configure', 'monitor', 'recover'] as const;
export type Action = (typeof ACTIONS)[number];

interface OptionSpec {
  type: 'string' | 'boolean';
  /** One line for `--help`. */
  says: string;
  /** Variable that gives it as well. `SVC_CONFIG` and `SVC_LICENSE_KEY` are the server's, so two options have no such name. */
  env?: string;
  /** Not taken from the configuration file, because it is meant for one run. */
  onlyOnce?: true;
  /** Not an option of the command line. */
  fileOnly?: true;
  /** It may be given several times. */
  multiple?: true;
}

export const OPTIONS = {
  action: { type: 'string', says: `one of ${ACTIONS.join(', ')} (default: update)`, onlyOnce: true },
  server: { type: 'string', says: 'address of the service, https://…', env: 'SVC_SERVER' },
  project: { type: 'string', says: 'slug of the product', env: 'SVC_PROJECT' },
  channel: { type: 'string', says: 'release channel (default: the installed one, else stable)', env: 'SVC_CHANNEL' },
  platform: { type: 'string', says: `one of ${PLATFORMS.join(', ')} (default: this machine's)`, env: 'SVC_PLATFORM' },
  dir: {
    type: 'string',
    says: 'the installation (default: the agent’s own directory, else the current one)',
    env: 'SVC_DIR',
  },
  config: { type: 'string', says: 'configuration file (default: .update-agent/agent.json)', onlyOnce: true },
  'current-version': { type: 'string', says: 'installed version, where manifest.json does not say it', onlyOnce: true },
  'license-key': {
    type: 'string',
    says: 'license key for the release store (or SVC_PRODUCT_KEY, SVC_PRODUCT_KEY_FILE)',
  },
  username: {
    type: 'string',
    says: 'account (password: SVC_PASSWORD, SVC_PASSWORD_FILE, or a prompt)',
    env: 'SVC_USERNAME',
  },
  restart: {
    type: 'boolean',
    says: 'stop the service before and start it after the update; without one start the entry',
    env: 'SVC_RESTART',
  },
  'wait-for-pid': { type: 'string', says: 'wait for this process to end before files are replaced', onlyOnce: true },
  'wait-seconds': { type: 'string', says: 'how long to wait for it (default: 300)', env: 'SVC_WAIT_SECONDS' },
  'require-signed': {
    type: 'boolean',
    says: 'refuse unsigned releases and missing statements of freshness',
    env: 'SVC_REQUIRE_SIGNED',
  },
  'allow-unsigned': { type: 'boolean', says: 'take an unsigned release, for this run only', onlyOnce: true },
  pin: { type: 'string', says: 'SHA-256 of the SPKI DER of the only key to trust, 64 hex digits', env: 'SVC_PIN' },
  package: {
    type: 'string',
    says: 'package.tar.gz to apply offline, manifest.json and manifest.sig beside it',
    onlyOnce: true,
  },
  'monitor-name': {
    type: 'string',
    says: 'name of this machine in the dashboard (default: its own)',
    env: 'SVC_MONITOR_NAME',
  },
  schedule: {
    type: 'boolean',
    says: 'report this machine by a schedule (cron, Windows: scheduled task)',
    env: 'SVC_SCHEDULE',
  },
  replace: { type: 'boolean', says: 'end the tokens that an earlier setup of this machine got', onlyOnce: true },
  set: {
    type: 'string',
    says: 'name=value: a setting of the release, any number of them (or SVC_SET_<NAME>)',
    onlyOnce: true,
    multiple: true,
  },
  adopt: { type: 'boolean', says: 'install into a directory that holds something else', onlyOnce: true },
  'allow-http': { type: 'boolean', says: 'speak http to a server that is not this machine', env: 'SVC_ALLOW_HTTP' },
  yes: { type: 'boolean', says: 'take every default, ask nothing', env: 'SVC_YES' },
  json: { type: 'boolean', says: 'one JSON object per line on stdout', env: 'SVC_JSON' },
  service: { type: 'string', says: 'service to stop and start with --restart', fileOnly: true },
  version: { type: 'boolean', says: 'the version of this program', onlyOnce: true },
  help: { type: 'boolean', says: 'this text', onlyOnce: true },
} as const satisfies Record<string, OptionSpec>;

export type OptionName = keyof typeof OPTIONS;
export type Env = Readonly<Record<string, string | undefined>>;

/** The options of one run, checked. Paths are absolute. */
export interface Options {
  action: Action;
  server: URL | null;
  project: string | null;
  channel: string | null;
  platform: string | null;
  dir: string;
  /** It was said, and is not the default. */
  dirGiven: boolean;
  config: string;
  currentVersion: string | null;
  /** Canonical text: upper case, with hyphens. */
  licenseKey: string | null;
  username: string | null;
  /** From the environment; null: it is asked for where it is needed. */
  password: string | null;
  restart: boolean;
  waitForPid: number | null;
  waitSeconds: number;
  requireSigned: boolean;
  allowUnsigned: boolean;
  /** Lower case hex. */
  pin: string | null;
  package: string | null;
  /** Null: it is asked for, or the machine's own. */
  monitorName: string | null;
  /** Null: it is asked for. */
  schedule: boolean | null;
  replace: boolean;
  /** Settings of the release, as they were given. */
  set: { name: string; value: string }[];
  adopt: boolean;
  allowHttp: boolean;
  yes: boolean;
  json: boolean;
  /** Named by the administrator in the configuration file, never by a package. */
  service: string | null;
  version: boolean;
  help: boolean;
}

const WAIT_SECONDS = 300;
const SLUG = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** A name of systemd or of Windows' services, and nothing that a command line would take for an option. */
const SERVICE = /^[A-Za-z0-9_][A-Za-z0-9_.@:$ -]{0,255}$/;
const PID = /^[1-9]\d{0,9}$/;
const SECONDS = /^\d{1,6}$/;
const SPKI_SHA256 = /^[0-9a-f]{64}$/i;

type Values = Partial<Record<OptionName, string | boolean | string[]>>;

/** `argv` without node and the script. `own`: the directory that the agent's own file lies in. */
export async function readOptions(argv: readonly string[], env: Env, own: string): Promise<Options> {
  const given = fromArguments(argv);
  const around = fromEnvironment(env);
  const dir = resolve(
    text(given.dir ?? around.dir) ?? (given.action === 'monitor' ? await machineFolder(env) : await defaultDir(own)),
  );
  const config = resolve(text(given.config) ?? join(dir, '.update-agent', 'agent.json'));
  const file = await readConfig(config, given.config !== undefined);
  const values: Values = { ...fromFile(file), ...around, ...given };
  const options = checked(values, text(given.config) === null ? dir : resolve(text(values.dir) ?? dir), config);
  options.licenseKey = licenseKeyOf(options.licenseKey ?? (await secretOf(env, 'SVC_PRODUCT_KEY')));
  options.password = await secretOf(env, 'SVC_PASSWORD');
  return options;
}

/** The agent's own directory where that is an installation, the one around `.update-agent/agent` too; else the current one. */
async function defaultDir(own: string): Promise<string> {
  const home = basename(own) === '.update-agent' ? dirname(own) : own;
  const holds = await stat(join(home, 'manifest.json')).then(
    (found) => found.isFile(),
    () => false,
  );
  return holds ? home : '.';
}

function fromArguments(argv: readonly string[]): Values {
  const password = argv.find((word) => /^--?password(=|$)/.test(word));
  if (password !== undefined)
    throw new Failure(
      'usage',
      'a password on the command line can be read by others: use SVC_PASSWORD or SVC_PASSWORD_FILE',
    );
  const options = Object.fromEntries(
    Object.entries<OptionSpec>(OPTIONS)
      .filter(([, spec]) => spec.fileOnly === undefined)
      .map(([name, { type, multiple = false }]) => [name, { type, multiple }]),
  );
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new Failure('usage', `${(error as Error).message.split('. ')[0] ?? ''}; --help lists the options`, {
      cause: error,
    });
  }
}

function fromEnvironment(env: Env): Values {
  const found: Values = {};
  for (const [name, spec] of Object.entries<OptionSpec>(OPTIONS)) {
    const value = spec.env === undefined ? undefined : env[spec.env];
    if (value === undefined || value === '') continue;
    found[name as OptionName] = spec.type === 'string' ? value : flag(spec.env ?? name, value);
  }
  return found;
}

function fromFile({ path, values }: ConfigFile): Values {
  const found: Values = {};
  for (const [key, value] of Object.entries(values)) {
    const name = key.replaceAll('_', '-');
    const where = `${key} in ${path}`;
    if (name === 'password')
      throw new Failure('usage', `${where}: a password belongs into SVC_PASSWORD_FILE, not here`);
    const spec = (OPTIONS as Record<string, OptionSpec>)[name];
    if (spec === undefined) throw new Failure('usage', `${where}: no such option`);
    if (spec.onlyOnce) throw new Failure('usage', `${where}: belongs on the command line, it is meant for one run`);
    if (spec.type === 'boolean') found[name as OptionName] = flag(where, value);
    else if (typeof value === 'string' || typeof value === 'number') found[name as OptionName] = String(value);
    else throw new Failure('usage', `${where}: must be a text`);
  }
  return found;
}

function flag(where: string, value: unknown): boolean {
  if (value === true || value === 'true' || value === '1') return true;
  if (value === false || value === 'false' || value === '0') return false;
  throw new Failure('usage', `${where}: must be true or false`);
}

const text = (value: string | boolean | string[] | undefined): string | null =>
  typeof value === 'string' ? value : null;

function checked(values: Values, dir: string, config: string): Options {
  const one = (name: OptionName, fits: (text: string) => boolean, says: string): string | null => {
    const value = text(values[name]);
    if (value !== null && !fits(value)) throw new Failure('usage', `--${name} must be ${says}`);
    return value;
  };
  const action = one('action', (a) => (ACTIONS as readonly string[]).includes(a), `one of ${ACTIONS.join(', ')}`);
  const allowHttp = values['allow-http'] === true;
  const server = text(values.server);
  const pid = one('wait-for-pid', (n) => PID.test(n), 'the number of a process');
  const seconds = one('wait-seconds', (n) => SECONDS.test(n), 'a number of seconds');
  const packageFile = text(values.package);
  return {
    action: (action ?? 'update') as Action,
    server: server === null ? null : serverUrl(server, allowHttp),
    project: one('project', (slug) => SLUG.test(slug), 'a slug: small letters, digits, dot, hyphen, underscore'),
    channel: one('channel', (slug) => SLUG.test(slug), 'a slug: small letters, digits, dot, hyphen, underscore'),
    platform: one('platform', isPlatform, `one of ${PLATFORMS.join(', ')}`),
    dir,
    dirGiven: values.dir !== undefined,
    config,
    currentVersion: one('current-version', isVersion, 'a version such as 1.2.3'),
    licenseKey: text(values['license-key']),
    username: one('username', (name) => name !== '' && !/[:\p{Cc}]/u.test(name), 'the name of an account'),
    password: null,
    restart: values.restart === true,
    waitForPid: pid === null ? null : Number(pid),
    waitSeconds: seconds === null ? WAIT_SECONDS : Number(seconds),
    requireSigned: values['require-signed'] === true,
    allowUnsigned: values['allow-unsigned'] === true,
    pin: one('pin', (hex) => SPKI_SHA256.test(hex), '64 hex digits')?.toLowerCase() ?? null,
    package: packageFile === null ? null : resolve(packageFile),
    monitorName: one(
      'monitor-name',
      (name) => /^[^\p{Cc}]{1,200}$/u.test(name.trim()),
      'one line of 200 characters at most',
    ),
    schedule: typeof values.schedule === 'boolean' ? values.schedule : null,
    replace: values.replace === true,
    set: settingsOf(values.set),
    adopt: values.adopt === true,
    allowHttp,
    yes: values.yes === true,
    json: values.json === true,
    service: one('service', (name) => SERVICE.test(name), 'the name of a service'),
    version: values.version === true,
    help: values.help === true,
  };
}

function settingsOf(given: Values['set']): Options['set'] {
  return (Array.isArray(given) ? given : []).map((text) => {
    const at = text.indexOf('=');
    if (at < 1 || at === text.length - 1) throw new Failure('usage', '--set must be name=value');
    return { name: text.slice(0, at), value: text.slice(at + 1) };
  });
}

/** The text that is hashed and sent (contract 40, access files). */
function licenseKeyOf(text: string | null): string | null {
  if (text === null) return null;
  const key = canonicalKey(text);
  if (!/^[0-9A-Z]{5}(-[0-9A-Z]{5})*$/.test(key))
    throw new Failure('usage', '--license-key must be groups of five letters and digits');
  return key;
}

export function helpText(): string {
  const rows = Object.entries<OptionSpec>(OPTIONS).filter(([, spec]) => spec.fileOnly === undefined);
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(
    ([name, { says, env }]) => `  --${name.padEnd(width)}  ${says}${env === undefined ? '' : ` [${env}]`}`,
  );
  return `usage: update-agent [--action ${ACTIONS.join('|')}] [options]\n\n${lines.join('\n')}\n`;
}

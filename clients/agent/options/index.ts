/**
 * Arguments override the environment, which overrides the configuration file (specification,
 * "Command-line interfaces"; contract 90, update agent and "Defaults").
 */
import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isVersion, stripBuildMetadata } from '../../../lib/versions.js';
import { normalizeLicenseKey } from '../../../lib/formats/license-key.js';
import { isPlatform, PLATFORMS } from '../../../lib/formats/platform.js';
import { checkEnteredDirectory } from '../system/entered-directory.js';
import { AgentFailure } from '../exit.js';
import { getMachineFolder } from '../system/machine-folder.js';
import { parseServerUrl } from './address.js';
import { loadTrustedConfig, type TrustedConfig } from './config-trust.js';
import {
  ACTIONS,
  OPTION_SPECS,
  SCHEDULERS,
  SLUG_PATTERN,
  type Action,
  type Env,
  type NightlyScheduler,
  type OptionName,
  type OptionSpec,
} from './table.js';
import { parseFlag, type OptionValues } from './values.js';
import { readSecret } from '../secrets.js';

export interface CheckedOptions {
  action: Action;
  /** The action stands on the command line. */
  actionGiven: boolean;
  server: URL | null;
  project: string | null;
  channel: string | null;
  platform: string | null;
  dir: string;
  dirGiven: boolean;
  config: string | null;
  warnings: readonly string[];
  currentVersion: string | null;
  /** As sent; null when derived from the system's id. */
  machineId: string | null;
  licenseKey: string | null;
  username: string | null;
  /** From the environment or `passwordFile`. Null when the user must be prompted. */
  password: string | null;
  passwordFile: string | null;
  scheduler: NightlyScheduler | null;
  restart: boolean;
  waitForPid: number | null;
  waitSeconds: number;
  /** Earlier versions to keep for `--action rollback`. */
  keepBackups: number;
  /** Share of the package's size up to which changed files are downloaded singly. */
  maxDeltaPercent: number;
  requireSigned: boolean;
  allowUnsigned: boolean;
  /** Lower case hex. */
  pin: string | null;
  package: string | null;
  monitorName: string | null;
  schedule: boolean | null;
  replace: boolean;
  set: { name: string; value: string }[];
  adopt: boolean;
  allowTargets: boolean;
  caFile: string | null;
  allowHttp: boolean;
  yes: boolean;
  json: boolean;
  /** Set by the administrator in the configuration file, never by a package. */
  service: string | null;
  version: boolean;
  help: boolean;
}

const DEFAULT_WAIT_SECONDS = 300;
const DEFAULT_KEPT_BACKUPS = 1;
const DEFAULT_MAX_DELTA_PERCENT = 60;
/** A service name of systemd or Windows that no command line mistakes for an option. */
const SERVICE_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9_.@:$ -]{0,255}$/;
const PID_PATTERN = /^[1-9]\d{0,9}$/;
const SECONDS_PATTERN = /^\d{1,6}$/;
const SPKI_SHA256_PATTERN = /^[0-9a-f]{64}$/i;

/** Reads and validates the options. */
export async function readOptions(argv: readonly string[], env: Env, own: string): Promise<CheckedOptions> {
  const given = parseArguments(argv);
  const around = readEnvironment(env);
  const requestedDir = toText(given.dir ?? around.dir);
  const home = requestedDir === null && given.action !== 'monitor' ? await findInstallation(own) : null;
  const standard = given.action === 'monitor' ? await getMachineFolder(env) : (home ?? '.');
  const dir = resolve(requestedDir ?? standard);
  const shown = given.help === true || given.version === true;
  if (!shown) await checkEnteredDirectory(dir);
  const believed = shown
    ? NO_CONFIG
    : await loadTrustedConfig({
        config: toText(given.config),
        dir,
        named: requestedDir !== null || home !== null,
        given: { ...around, ...given },
      });
  const values: OptionValues = { ...believed.values, ...around, ...given };
  const place = resolve(toText(values.dir) ?? dir);
  if (place !== dir) await checkEnteredDirectory(place);
  const options = checkOptions(values, place, believed);
  options.licenseKey = parseLicenseKeyOption(options.licenseKey ?? (await readSecret(env, 'SVC_PRODUCT_KEY')));
  const { SVC_PASSWORD } = env;
  options.password = await readSecret(
    { SVC_PASSWORD, SVC_PASSWORD_FILE: options.passwordFile ?? undefined },
    'SVC_PASSWORD',
  );
  return options;
}

const NO_CONFIG: TrustedConfig = { values: {}, warnings: [] };

/** Includes the installation around `.update-agent/agent`. */
async function findInstallation(own: string): Promise<string | null> {
  const home = basename(own) === '.update-agent' ? dirname(own) : own;
  const holds = await stat(join(home, 'manifest.json')).then(
    (found) => found.isFile(),
    () => false,
  );
  return holds ? home : null;
}

function parseArguments(argv: readonly string[]): OptionValues {
  const password = argv.find((word) => /^--?password(=|$)/.test(word));
  if (password !== undefined)
    throw new AgentFailure(
      'usage',
      'a password on the command line is visible to others; use SVC_PASSWORD or SVC_PASSWORD_FILE',
    );
  const options = Object.fromEntries(
    Object.entries<OptionSpec>(OPTION_SPECS)
      .filter(([, spec]) => spec.fileOnly === undefined)
      .map(([name, { type, multiple = false }]) => [name, { type, multiple }]),
  );
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new AgentFailure('usage', `${(error as Error).message.split('. ')[0] ?? ''}; --help lists the options`, {
      cause: error,
    });
  }
}

function readEnvironment(env: Env): OptionValues {
  const found: OptionValues = {};
  for (const [name, spec] of Object.entries<OptionSpec>(OPTION_SPECS)) {
    const value = (spec.env && env[spec.env]) || (spec.formerEnv && env[spec.formerEnv]);
    if (value === undefined || value === '') continue;
    found[name as OptionName] = spec.type === 'string' ? value : parseFlag(spec.env ?? name, value);
  }
  return found;
}

const toText = (value: string | boolean | string[] | undefined): string | null =>
  typeof value === 'string' ? value : null;

function checkOptions(values: OptionValues, dir: string, { warnings }: TrustedConfig): CheckedOptions {
  const one = (name: OptionName, fits: (text: string) => boolean, says: string): string | null => {
    const value = toText(values[name]);
    if (value !== null && !fits(value)) throw new AgentFailure('usage', `--${name} must be ${says}`);
    return value;
  };
  const isInstalled = (version: string): boolean => isVersion(stripBuildMetadata(version));
  const currentVersion = one('current-version', isInstalled, 'a version such as 1.2.3');
  const action = one('action', (a) => (ACTIONS as readonly string[]).includes(a), `one of ${ACTIONS.join(', ')}`);
  const allowHttp = values['allow-http'] === true;
  const server = toText(values.server);
  const pid = one('wait-for-pid', (n) => PID_PATTERN.test(n), 'a process ID');
  const seconds = one('wait-seconds', (n) => SECONDS_PATTERN.test(n), 'a number of seconds');
  const backups = one('keep-backups', (n) => /^(10|\d)$/.test(n), 'a number from 0 to 10');
  const percent = one('max-delta-percent', (n) => /^(100|\d{1,2})$/.test(n), 'a number from 0 to 100');
  const passwordFile = toText(values['password-file']);
  const scheduler = one(
    'scheduler',
    (s) => (SCHEDULERS as readonly string[]).includes(s),
    `one of ${SCHEDULERS.join(', ')}`,
  );
  const packageFile = toText(values.package);
  const caFile = toText(values['ca-file']);
  const config = toText(values.config);
  return {
    action: (action ?? 'update') as Action,
    actionGiven: action !== null,
    server: server === null ? null : parseServerUrl(server, allowHttp),
    project: one(
      'project',
      (slug) => SLUG_PATTERN.test(slug),
      'a slug: lower-case letters, digits, dot, hyphen, underscore',
    ),
    channel: one(
      'channel',
      (slug) => SLUG_PATTERN.test(slug),
      'a slug: lower-case letters, digits, dot, hyphen, underscore',
    ),
    platform: one('platform', isPlatform, `one of ${PLATFORMS.join(', ')}`),
    dir,
    dirGiven: values.dir !== undefined,
    config: config === null ? null : resolve(config),
    warnings,
    currentVersion: currentVersion === null ? null : stripBuildMetadata(currentVersion),
    machineId: one('machine-id', (id) => /^[^\p{Cc}]{1,128}$/u.test(id), 'one line of at most 128 characters'),
    licenseKey: toText(values['license-key']),
    username: one('username', (name) => name !== '' && !/[:\p{Cc}]/u.test(name), 'an account name'),
    password: null,
    passwordFile: passwordFile === null ? null : resolve(passwordFile),
    scheduler: scheduler as NightlyScheduler | null,
    restart: values.restart === true,
    waitForPid: pid === null ? null : Number(pid),
    waitSeconds: seconds === null ? DEFAULT_WAIT_SECONDS : Number(seconds),
    keepBackups: backups === null ? DEFAULT_KEPT_BACKUPS : Number(backups),
    maxDeltaPercent: percent === null ? DEFAULT_MAX_DELTA_PERCENT : Number(percent),
    requireSigned: values['require-signed'] === true,
    allowUnsigned: values['allow-unsigned'] === true,
    pin: one('pin', (hex) => SPKI_SHA256_PATTERN.test(hex), '64 hex digits')?.toLowerCase() ?? null,
    package: packageFile === null ? null : resolve(packageFile),
    monitorName: one(
      'monitor-name',
      (name) => /^[^\p{Cc}]{1,200}$/u.test(name.trim()),
      'one line of at most 200 characters',
    ),
    schedule: typeof values.schedule === 'boolean' ? values.schedule : null,
    replace: values.replace === true,
    set: parseSettings(values.set),
    adopt: values.adopt === true,
    allowTargets: values['allow-targets'] === true,
    caFile: caFile === null ? null : resolve(caFile),
    allowHttp,
    yes: values.yes === true,
    json: values.json === true,
    service: one('service', (name) => SERVICE_PATTERN.test(name), 'a service name'),
    version: values.version === true,
    help: values.help === true,
  };
}

function parseSettings(given: OptionValues['set']): CheckedOptions['set'] {
  return (Array.isArray(given) ? given : []).map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw new AgentFailure('usage', '--set must be name=value');
    const name = text.slice(0, at);
    if (at === text.length - 1)
      throw new AgentFailure('usage', `--set ${name}= has no value; omit it to use the detected or default value`);
    return { name, value: text.slice(at + 1) };
  });
}

/** Returns the text that is hashed and sent (contract 40, access files). */
function parseLicenseKeyOption(text: string | null): string | null {
  if (text === null) return null;
  const key = normalizeLicenseKey(text);
  if (!/^[0-9A-Z]{5}(-[0-9A-Z]{5})*$/.test(key))
    throw new AgentFailure('usage', '--license-key must be groups of five letters and digits');
  return key;
}

/**
 * Every option with its command-line, environment and config-file names (specification,
 * "Command-line interfaces").
 */
import { PLATFORMS } from '../../../lib/formats/platform.js';

export const ACTIONS = ['update', 'install', 'configure', 'monitor', 'recover', 'rollback', 'schedule'] as const;
export type Action = (typeof ACTIONS)[number];

export const SCHEDULERS = ['systemd', 'cron', 'launchd', 'task'] as const;
export type NightlyScheduler = (typeof SCHEDULERS)[number];

export interface OptionSpec {
  type: 'string' | 'boolean';
  says: string;
  /** `SVC_CONFIG` and `SVC_LICENSE_KEY` belong to the server, so two options have no such name. */
  env?: string;
  formerEnv?: string;
  /** Applies to one run, so it is not read from the configuration file. */
  onlyOnce?: true;
  fileOnly?: true;
  multiple?: true;
}

export const OPTION_SPECS = {
  action: { type: 'string', says: `one of ${ACTIONS.join(', ')} (default: update)`, onlyOnce: true },
  server: { type: 'string', says: 'address of the service, https://…', env: 'SVC_URL', formerEnv: 'SVC_SERVER' },
  project: { type: 'string', says: 'slug of the product', env: 'SVC_PROJECT' },
  channel: { type: 'string', says: 'release channel (default: the installed one, else stable)', env: 'SVC_CHANNEL' },
  platform: { type: 'string', says: `one of ${PLATFORMS.join(', ')} (default: this machine's)`, env: 'SVC_PLATFORM' },
  dir: {
    type: 'string',
    says: 'directory of the installation (default: that of the agent, else the current one)',
    env: 'SVC_DIR',
  },
  config: { type: 'string', says: 'configuration file (default: .update-agent/agent.json)', onlyOnce: true },
  'machine-id': {
    type: 'string',
    says: 'permanent ID of this machine for staged rollouts, for example in a container (default: that of the system)',
    env: 'SVC_MACHINE_ID',
  },
  'current-version': { type: 'string', says: 'installed version, if there is no manifest.json', onlyOnce: true },
  'license-key': {
    type: 'string',
    says: 'license key for the release store (or SVC_PRODUCT_KEY, SVC_PRODUCT_KEY_FILE)',
  },
  username: {
    type: 'string',
    says: 'account (password: SVC_PASSWORD, SVC_PASSWORD_FILE, or a prompt)',
    env: 'SVC_USERNAME',
  },
  'password-file': {
    type: 'string',
    says: 'file with the password of the account, read on each run',
    env: 'SVC_PASSWORD_FILE',
  },
  scheduler: {
    type: 'string',
    says: `scheduler of the nightly update: ${SCHEDULERS.join(', ')} (default: this machine's)`,
    onlyOnce: true,
  },
  restart: {
    type: 'boolean',
    says: 'stop the service before the update and start it afterwards; without a service, start the entry',
    env: 'SVC_RESTART',
  },
  'wait-for-pid': { type: 'string', says: 'wait for this process to exit before files are replaced', onlyOnce: true },
  'wait-seconds': { type: 'string', says: 'how long to wait for it (default: 300)', env: 'SVC_WAIT_SECONDS' },
  'require-signed': {
    type: 'boolean',
    says: 'reject unsigned releases and missing freshness statements',
    env: 'SVC_REQUIRE_SIGNED',
  },
  'allow-unsigned': { type: 'boolean', says: 'accept an unsigned release, for this run only', onlyOnce: true },
  pin: { type: 'string', says: 'SHA-256 of the SPKI DER of the only key to trust, 64 hex digits', env: 'SVC_PIN' },
  package: {
    type: 'string',
    says: 'package.tar.gz to apply offline, next to its manifest.json and manifest.sig',
    onlyOnce: true,
  },
  'keep-backups': {
    type: 'string',
    says: 'number of earlier versions to keep for --action rollback, 0 to 10 (default: 1)',
    env: 'SVC_KEEP_BACKUPS',
  },
  'max-delta-percent': {
    type: 'string',
    says: 'download only changed files up to this percentage of the package, 0 to 100 (default: 60)',
    env: 'SVC_MAX_DELTA_PERCENT',
  },
  'monitor-name': {
    type: 'string',
    says: 'name of this machine in the dashboard (default: its own)',
    env: 'SVC_MONITOR_NAME',
  },
  schedule: {
    type: 'boolean',
    says: 'report this machine on a schedule (cron; Windows: scheduled task)',
    env: 'SVC_SCHEDULE',
  },
  replace: { type: 'boolean', says: 'revoke the tokens of an earlier setup of this machine', onlyOnce: true },
  set: {
    type: 'string',
    says: 'setting of the release as name=value, repeatable (or SVC_SET_<NAME>)',
    onlyOnce: true,
    multiple: true,
  },
  'allow-targets': {
    type: 'boolean',
    says: 'as root: write the settings files outside the installation that setup.json requests, without asking',
    onlyOnce: true,
  },
  adopt: { type: 'boolean', says: 'install into a directory that is not empty', onlyOnce: true },
  'ca-file': {
    type: 'string',
    says: 'additional trusted certificate authorities in PEM, for example of a proxy',
    env: 'SVC_CA_FILE',
  },
  'allow-http': { type: 'boolean', says: 'allow http to a server on another machine', env: 'SVC_ALLOW_HTTP' },
  yes: { type: 'boolean', says: 'use all defaults without prompts', env: 'SVC_YES' },
  json: { type: 'boolean', says: 'one JSON object per line on stdout', env: 'SVC_JSON' },
  service: { type: 'string', says: 'service to stop and start with --restart', fileOnly: true },
  version: { type: 'boolean', says: 'show the version of this program', onlyOnce: true },
  help: { type: 'boolean', says: 'this text', onlyOnce: true },
} as const satisfies Record<string, OptionSpec>;

export type OptionName = keyof typeof OPTION_SPECS;

/**
 * Security-relevant options: as root in another user's tree only root may set them (contract 90,
 * whom it believes).
 */
export const RESTRICTED_OPTIONS: ReadonlySet<OptionName> = new Set([
  'server',
  'project',
  'channel',
  'username',
  'password-file',
  'license-key',
  'pin',
  'service',
  'restart',
  'allow-http',
  'ca-file',
  'dir',
]);

export const SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
export type Env = Readonly<Record<string, string | undefined>>;

export function formatHelp(): string {
  const rows = Object.entries<OptionSpec>(OPTION_SPECS).filter(([, spec]) => spec.fileOnly === undefined);
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(
    ([name, { says, env }]) => `  --${name.padEnd(width)}  ${says}${env === undefined ? '' : ` [${env}]`}`,
  );
  return `usage: update-agent [--action ${ACTIONS.join('|')}] [options]\n\n${lines.join('\n')}\n`;
}

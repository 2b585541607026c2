import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfiguredFile, UntrustedFile } from '../../lib/files/trusted-file.js';
import { isVersion, stripBuildMetadata } from '../../lib/versions.js';
import { isPlatform, PLATFORMS, type Platform } from '../../lib/formats/platform.js';
import { readConfig } from './config-file.js';
import { EXIT_CODES, PackagerFailure } from './packager-failure.js';

export const USAGE_TEXT = `packager – pack a build, check it and publish it as a release

  --project <slug>            slug of the project
  --version <version>         version (default: that of the main assembly)
  --channel <name>            channel (default: stable)
  --platform <id>             ${PLATFORMS.join(', ')} (default: that of the publish path, else any)
  --publish-dir <dir>         directory with the build output
  --ignore-version-mismatch   publish even if the main assembly has another version
  --notes <text>              release notes; --notes-file <file> reads them from a file
  --commits <range>           commits since the last release, from git (1.3.0..HEAD); items list those that may have
                              caused an error
  --build <id>                build in resolved_in_build of bug items (the version is accepted as well)
  --min-version <version>     oldest version that can update directly to this one
  --mandatory                 do not allow clients to postpone this update
  --rollout-percent <0-100>   percentage of machines that are offered the release (default: 100)
  --server <url>              address of the service (or SVC_URL)
  --allow-http                send the token unencrypted to another machine
  --config <file>             configuration file (default: ./packager.json)
  --output <dir or .tar.gz>   write the archive to this path
  --strict                    fail for files that look like credentials instead of warning
  --dry-run                   pack and check without publishing
  --json                      print one JSON object on stdout
  --help                      show this help

The token (scope updateservice:publish) is read from SVC_TOKEN, from the variable set as tokenEnv, or from the file
set in <variable>_FILE.
Exit codes: 0 done, 1 error, 2 latest.json cannot be read, 3 versions differ, 4 rejected, 64 wrong usage.
`;

export interface PackagerSettings {
  project: string;
  version: string | null;
  channel: string;
  platform: Platform | null;
  publishDir: string;
  mainAssembly: string | null;
  entry: string | null;
  ignoreVersionMismatch: boolean;
  exclude: string[];
  preserve: string[];
  notes: string | null;
  commits: string | null;
  build: string | null;
  minVersion: string | null;
  mandatory: boolean;
  rolloutPercent: number | null;
  /** Null only in a dry run, which sends no requests. */
  server: { url: URL; token: string } | null;
  output: string | null;
  configFile: string;
  strict: boolean;
  dryRun: boolean;
  json: boolean;
}

const OPTION_SPECS = {
  project: { type: 'string' },
  version: { type: 'string' },
  channel: { type: 'string' },
  platform: { type: 'string' },
  'publish-dir': { type: 'string' },
  'ignore-version-mismatch': { type: 'boolean' },
  notes: { type: 'string' },
  'notes-file': { type: 'string' },
  commits: { type: 'string' },
  build: { type: 'string' },
  'min-version': { type: 'string' },
  mandatory: { type: 'boolean' },
  'rollout-percent': { type: 'string' },
  server: { type: 'string' },
  'allow-http': { type: 'boolean' },
  config: { type: 'string' },
  output: { type: 'string' },
  strict: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

const createUsageFailure = (message: string): PackagerFailure => new PackagerFailure(EXIT_CODES.usage, message);

/**
 * @returns null when help was requested
 * @throws PackagerFailure that names the option
 */
export async function readSettings(argv: readonly string[], env: Environment): Promise<PackagerSettings | null> {
  const given = parseArguments(argv);
  if (given.help === true) return null;
  const configFile = resolve(given.config ?? 'packager.json');
  const config = await readConfig(configFile, given.config !== undefined);
  const dryRun = given['dry-run'] === true;
  const project = given.project ?? config.project;
  if (project === undefined) throw createUsageFailure('--project is missing: the slug of the project.');
  if (!/^[\w.-]{1,100}$/.test(project)) throw createUsageFailure('--project must be a slug.');
  const publishDir = given['publish-dir'] ?? config.publishDir;
  if (publishDir === undefined)
    throw createUsageFailure('--publish-dir is missing: the directory with the build output.');
  const mainAssembly = config.mainAssembly ?? null;
  if (mainAssembly !== null && /[\\/]/.test(mainAssembly))
    throw createUsageFailure(`${configFile}: mainAssembly must be a file name in the publish directory.`);
  return {
    project,
    version: parseVersion(given.version, '--version'),
    channel: parseChannel(given.channel ?? config.channel ?? 'stable'),
    platform: parsePlatform(given.platform ?? config.platform),
    publishDir: resolve(publishDir),
    mainAssembly,
    entry: config.entry ?? null,
    ignoreVersionMismatch: given['ignore-version-mismatch'] === true,
    exclude: config.excludePatterns ?? [],
    preserve: config.preservePatterns ?? [],
    notes: await readNotes(given.notes, given['notes-file'] ?? config.notesFile),
    commits: parseRange(given.commits),
    build: given.build ?? null,
    minVersion: parseVersion(given['min-version'], '--min-version'),
    mandatory: given.mandatory === true,
    rolloutPercent: parsePercent(given['rollout-percent']),
    server: await resolveServer(given.server ?? config.server ?? env['SVC_URL'], config.tokenEnv ?? 'SVC_TOKEN', env, {
      optional: dryRun,
      allowHttp: given['allow-http'] === true,
    }),
    output: resolveOutput(given.output ?? config.output),
    configFile,
    strict: given.strict === true,
    dryRun,
    json: given.json === true,
  };
}

function parseArguments(
  argv: readonly string[],
): ReturnType<typeof parseArgs<{ options: typeof OPTION_SPECS }>>['values'] {
  try {
    return parseArgs({ args: [...argv], options: OPTION_SPECS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw createUsageFailure(`${(error as Error).message.split('. ')[0]}. packager --help lists the options.`);
  }
}

function parseVersion(text: string | undefined, option: string): string | null {
  if (text === undefined) return null;
  const version = stripBuildMetadata(text);
  if (!isVersion(version))
    throw createUsageFailure(
      `${option} ${text} is not a version: up to six numbers with dots, and a suffix after a hyphen.`,
    );
  return version;
}

function parseChannel(text: string): string {
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/.test(text))
    throw createUsageFailure(`--channel ${text} is not a valid channel name.`);
  return text;
}

function parsePlatform(text: string | undefined): Platform | null {
  if (text === undefined || isPlatform(text)) return text ?? null;
  throw createUsageFailure(`--platform must be one of ${PLATFORMS.join(', ')}, not ${text}.`);
}

function parsePercent(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100) throw createUsageFailure('--rollout-percent must be 0 to 100.');
  return Number(text);
}

function parseRange(text: string | undefined): string | null {
  if (text !== undefined && (text.trim() === '' || text.length > 200 || text.startsWith('-') || /[\0\r\n]/.test(text)))
    throw createUsageFailure('--commits must be a git range, such as 1.3.0..HEAD.');
  return text ?? null;
}

async function readNotes(text: string | undefined, file: string | undefined): Promise<string | null> {
  if (text !== undefined || file === undefined) return text ?? null;
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new PackagerFailure(
      EXIT_CODES.error,
      `The release notes ${file} cannot be read (${error.code ?? error.message}).`,
    );
  });
}

const resolveOutput = (path: string | undefined): string | null =>
  path === undefined ? null : isAbsolute(path) ? path : resolve(path);

/** @param variable environment variable with the token */
async function resolveServer(
  address: string | undefined,
  variable: string,
  env: Environment,
  { optional, allowHttp }: { optional: boolean; allowHttp: boolean },
): Promise<PackagerSettings['server']> {
  const token = await readSecret(variable, env);
  if (optional && (address === undefined || token === null)) return null;
  if (address === undefined) throw createUsageFailure('--server is missing: the address of the service (or SVC_URL).');
  if (token === null)
    throw createUsageFailure(
      `${variable} is not set: set it to a token with the scope updateservice:publish, or use --dry-run.`,
    );
  const base = address.endsWith('/') ? address : `${address}/`;
  if (!URL.canParse(base) || !/^https?:/.test(base))
    throw createUsageFailure(`--server ${address} is not an http or https address.`);
  const url = new URL(base);
  if (url.username !== '' || url.password !== '')
    throw createUsageFailure('--server must not contain a user name or password.');
  const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !loopback && !allowHttp)
    throw createUsageFailure('The token would be sent unencrypted: use https, or allow it with --allow-http.');
  return { url, token };
}

async function readSecret(variable: string, env: Environment): Promise<string | null> {
  const file = env[`${variable}_FILE`];
  const text =
    env[variable] ??
    (file === undefined
      ? undefined
      : await readConfiguredFile(file).catch((error: NodeJS.ErrnoException) => {
          if (error instanceof UntrustedFile)
            throw new PackagerFailure(EXIT_CODES.error, `${variable}_FILE: ${error.message}.`);
          throw new PackagerFailure(
            EXIT_CODES.error,
            `${variable}_FILE cannot be read (${error.code ?? error.message}).`,
          );
        }));
  const token = text?.trim() ?? '';
  if (/[^\x21-\x7e]/.test(token)) throw createUsageFailure(`${variable} does not contain a valid token.`);
  return token === '' ? null : token;
}

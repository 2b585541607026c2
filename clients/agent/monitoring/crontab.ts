import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { buildChildEnv } from '../system/environment.js';
import { AgentFailure } from '../exit.js';
import { findProgram } from '../system/programs.js';

type Env = Readonly<Record<string, string | undefined>>;

export const CRON_EXPRESSION = /^[\d*/,-]{1,40}( [\d*/,-]{1,40}){4}$/;

const runFile = promisify(execFile);
/** One character per byte, because a crontab may have any encoding. */
const ENCODING = 'latin1';
const MAX_CRONTAB_BYTES = 4 * 1024 * 1024;
/** Its message is parsed, so its language must be fixed. */
const toEnglishEnv = (env: Env): NodeJS.ProcessEnv => ({
  ...buildChildEnv(env, 'USER', 'LOGNAME'),
  LC_ALL: 'C',
  LANGUAGE: 'C',
});

/** @throws AgentFailure error */
async function listCrontab(env: Env): Promise<string> {
  const program = await findProgram('crontab', env);
  if (program === null)
    throw new AgentFailure('error', 'crontab was not found; install cron, or continue without a schedule');
  return program;
}

/**
 * Quotes for a shell with single quotes, and escapes `%`, which cron treats as a line end.
 * Backslashes before it stay outside the quotes.
 */
export const quoteForCron = (text: string): string =>
  text
    .split('%')
    .map((part) => `'${part.replaceAll("'", `'\\''`)}'`)
    .join('\\%');

/** The script's failures show in the dashboard instead of a mail per minute. */
export function buildCronLine(expression: string, script: string, source: string): string {
  if (/\p{Cc}/u.test(script))
    throw new AgentFailure('usage', 'a directory with control characters cannot be scheduled');
  return `${expression} /bin/sh ${quoteForCron(script)} --jitter >/dev/null 2>&1 ${buildTag(source)}`;
}

const buildTag = (source: string): string => `# aos:${source}`;

export const replaceLine = (crontab: string, line: string, source: string): string =>
  replaceTaggedLine(crontab, line, buildTag(source));

export function replaceTaggedLine(crontab: string, line: string, tag: string): string {
  const bytes = Buffer.from(line, 'utf8').toString(ENCODING);
  const lines = crontab === '' ? [] : crontab.replace(/\n$/, '').split('\n');
  const own = lines.findIndex((one) => one.endsWith(` ${tag}`));
  if (own === -1) lines.push(bytes);
  else lines[own] = bytes;
  return `${lines.join('\n')}\n`;
}

export function findTaggedLine(crontab: string, tag: string): string | null {
  const line = crontab.split('\n').find((one) => one.endsWith(` ${tag}`));
  return line === undefined ? null : Buffer.from(line, ENCODING).toString('utf8');
}

/**
 * @throws AgentFailure error for every other failure: an unreadable crontab must not be replaced
 */
export async function readCrontab(env: Env): Promise<string> {
  const program = await listCrontab(env);
  try {
    const { stdout } = await runFile(program, ['-l'], {
      env: toEnglishEnv(env),
      encoding: ENCODING,
      maxBuffer: MAX_CRONTAB_BYTES,
    });
    return stdout;
  } catch (error) {
    const errorOutput = getErrorOutput(error);
    if (typeof (error as { code?: unknown }).code === 'number' && /no crontab/i.test(errorOutput)) return '';
    throw createCrontabFailure(error, errorOutput);
  }
}

export async function writeCrontab(text: string, env: Env): Promise<void> {
  const program = await listCrontab(env);
  try {
    const running = runFile(program, ['-'], { env: toEnglishEnv(env) });
    running.child.stdin?.on('error', () => undefined).end(text, ENCODING);
    await running;
  } catch (error) {
    throw createCrontabFailure(error, getErrorOutput(error));
  }
}

const getErrorOutput = (error: unknown): string =>
  error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';

function createCrontabFailure(error: unknown, errorOutput: string): AgentFailure {
  return new AgentFailure('error', `the crontab was not changed: ${errorOutput || (error as Error).message}`, {
    cause: error,
  });
}

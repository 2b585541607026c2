/**
 * Secrets come from the environment, a file that it names, or a hidden prompt, never from argv (contract 90, update
 * agent).
 */
import { readFile } from 'node:fs/promises';
import { codeOf, AgentFailure } from './exit.js';
import { askHidden } from './prompts.js';

type Env = Readonly<Record<string, string | undefined>>;

/** The variable, or the file that `<name>_FILE` names, without one final line end; null: neither is set. */
export async function secretOf(env: Env, name: string): Promise<string | null> {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  const path = env[`${name}_FILE`];
  if (path === undefined || path === '') return null;
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new AgentFailure('usage', `${name}_FILE cannot be read: ${codeOf(error)}`, { cause: error });
  });
  return text.replace(/\r?\n$/, '');
}

/** Asks on the terminal; what is typed is not shown. Without a terminal it is exit 64, naming the variables. */
export async function askPassword(account: string, signal: AbortSignal): Promise<string> {
  if (!process.stdin.isTTY)
    throw new AgentFailure('usage', `no password for ${account}: set SVC_PASSWORD or SVC_PASSWORD_FILE`);
  return askHidden(`Password of ${account}: `, signal);
}

/**
 * Secrets from the environment, a file or a hidden prompt, never from argv (contract 90, update
 * agent).
 */
import { readFile } from 'node:fs/promises';
import { getErrorCode, AgentFailure } from './exit.js';
import { promptHidden } from './prompts.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Or the content of the file named by `<name>_FILE`. */
export async function readSecret(env: Env, name: string): Promise<string | null> {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  const path = env[`${name}_FILE`];
  if (path === undefined || path === '') return null;
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new AgentFailure('usage', `${name}_FILE cannot be read: ${getErrorCode(error)}`, { cause: error });
  });
  return text.replace(/\r?\n$/, '');
}

export async function promptPassword(account: string, signal: AbortSignal): Promise<string> {
  if (!process.stdin.isTTY)
    throw new AgentFailure('usage', `no password for ${account}: set SVC_PASSWORD or SVC_PASSWORD_FILE`);
  return promptHidden(`Password of ${account}: `, signal);
}

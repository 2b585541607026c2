/** From the options, the environment or a prompt (contract 90, update agent: `--username`). */
import { AgentFailure } from '../exit.js';
import { parseServerUrl } from '../options/address.js';
import { promptText, isInteractive } from '../prompts.js';
import { promptPassword } from '../secrets.js';
import type { CheckedOptions } from '../options/index.js';
import type { AccountPassword } from './session.js';

/**
 * Null when none is given and prompting is not possible.
 * @throws AgentFailure usage for an account without a password
 */
export async function resolveAccount(options: CheckedOptions, signal: AbortSignal): Promise<AccountPassword | null> {
  const interactive = isInteractive(options);
  if (options.username === null && !interactive) return null;
  const { username, password } = options;
  if (username !== null && password !== null) return { username, password };
  if (username !== null && !interactive)
    throw new AgentFailure('usage', `no password for ${username}: set SVC_PASSWORD or SVC_PASSWORD_FILE`);
  return promptAccount(username, signal, password);
}

/**
 * Prompts for the missing parts of an account.
 * @throws AgentFailure usage when no name was entered
 */
export async function promptAccount(
  named: string | null,
  signal: AbortSignal,
  password: string | null,
): Promise<AccountPassword> {
  const username = named ?? (await promptText('Account', '', '--username', signal));
  if (username === '')
    throw new AgentFailure('usage', '--username is missing: an account with the role installer or admin');
  return { username, password: password ?? (await promptPassword(username, signal)) };
}

/** @throws AgentFailure usage when it is not given and prompting is not possible */
export async function resolveServer(options: CheckedOptions, signal: AbortSignal): Promise<URL> {
  if (options.server !== null) return options.server;
  if (!isInteractive(options)) throw new AgentFailure('usage', '--server is missing: the address of the service');
  return parseServerUrl(await promptText('Address of the service', '', '--server', signal), options.allowHttp);
}

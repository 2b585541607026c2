/** Who installs: from the options, the environment, or a prompt (contract 90, update agent: `--username`). */
import { Failure } from '../exit.js';
import type { Http } from '../net/http.js';
import { askText, isInteractive } from '../prompts.js';
import { askPassword } from '../secrets.js';
import type { Options } from '../options.js';
import { SetupSession, type Account } from './session.js';

/** Null: none is named, and there is nobody to ask. @throws Failure usage: an account without a password */
export async function accountOf(options: Options, signal: AbortSignal): Promise<Account | null> {
  const interactive = isInteractive(options);
  if (options.username === null && !interactive) return null;
  const username = options.username ?? (await askText('Account', '', '--username', signal));
  if (username === '') throw new Failure('usage', '--username is missing: an account with the role installer or admin');
  if (options.password === null && !interactive)
    throw new Failure('usage', `no password for ${username}: set SVC_PASSWORD or SVC_PASSWORD_FILE`);
  return { username, password: options.password ?? (await askPassword(username, signal)) };
}

/** Logs in at the first call, where there is a server and an account. */
export function loginOnce(options: Options, http: Http, signal: AbortSignal): () => Promise<SetupSession | null> {
  let session: Promise<SetupSession | null> | null = null;
  const login = async (): Promise<SetupSession | null> => {
    const account = options.server === null ? null : await accountOf(options, signal);
    return options.server === null || account === null ? null : SetupSession.login(http, options.server, account);
  };
  return () => (session ??= login());
}

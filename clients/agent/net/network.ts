/**
 * Network access of an action. Only this module knows the credentials, so actions can run in the
 * unprivileged child of `owner/`.
 */
import { credentialsOf, type DownloadCredentials } from './credentials.js';
import type { Hooks } from '../hooks.js';
import type { CheckedOptions } from '../options.js';
import type { Env } from '../options/table.js';
import { isInteractive } from '../prompts.js';
import { accountOf, askedAccount } from './account.js';
import { SetupSession, type AccountPassword, type SetupPath } from './session.js';
import { Http, type JsonAnswer, type StreamedAnswer } from './http.js';

export interface Package extends StreamedAnswer {
  refused: string;
}

export interface Network {
  /**
   * Prompts now for the account and password needed later.
   * @param wanted prompts even when no account was named
   * @returns whether there is an account to log in with
   */
  askAccount(wanted: boolean): Promise<boolean>;
  ask(url: URL, most: number): Promise<JsonAnswer>;
  /**
   * Downloads a package with the credentials of the run, which are sent only to the origin of
   * `url`.
   */
  open(url: URL, headers: Readonly<Record<string, string>>): Promise<Package>;
  /**
   * Logs in at the first call.
   * @returns null without an account when prompting is not possible
   */
  login(server: URL): Promise<SetupPath | null>;
}

export class DirectNetwork implements Network {
  readonly #http: Http;
  #account: AccountPassword | null = null;
  #credentials: Promise<DownloadCredentials> | null = null;
  #session: Promise<SetupPath | null> | null = null;

  constructor(
    private readonly options: CheckedOptions,
    env: Env,
    hooks: Hooks,
    private readonly signal: AbortSignal,
  ) {
    this.#http = new Http({ env, hooks, signal, allowHttp: options.allowHttp, caFile: options.caFile });
  }

  async askAccount(wanted: boolean): Promise<boolean> {
    const { username, password } = this.options;
    const isOpen = username !== null ? password === null && process.stdin.isTTY : wanted && isInteractive(this.options);
    if (isOpen) this.#account = await askedAccount(username, this.signal, password);
    return username !== null || this.#account !== null;
  }

  ask(url: URL, most: number): Promise<JsonAnswer> {
    return this.#http.ask(url, most);
  }

  async open(url: URL, headers: Readonly<Record<string, string>>): Promise<Package> {
    this.#credentials ??= credentialsOf({ ...this.options, ...this.#account }, this.signal);
    const { authorization, refused } = await this.#credentials;
    return { ...(await this.#http.download(url, { ...headers }, authorization)), refused };
  }

  login(server: URL): Promise<SetupPath | null> {
    return (this.#session ??= this.#login(server));
  }

  async #login(server: URL): Promise<SetupPath | null> {
    this.#account ??= await accountOf(this.options, this.signal);
    this.#credentials = null;
    return this.#account === null ? null : SetupSession.login(this.#http, server, this.#account);
  }
}

/**
 * Only this module knows the credentials, so actions can run in the unprivileged child of `owner/`.
 */
import { resolveCredentials, type DownloadCredentials } from './credentials.js';
import type { Hooks } from '../hooks.js';
import type { CheckedOptions } from '../options/index.js';
import type { Env } from '../options/table.js';
import { isInteractive } from '../prompts.js';
import { resolveAccount, promptAccount } from './account.js';
import { SetupSession, type AccountPassword, type SetupApi } from './session.js';
import { HttpClient, type JsonAnswer, type StreamedAnswer } from './http.js';

export interface PackageResponse extends StreamedAnswer {
  refused: string;
}

export interface Network {
  /**
   * @param wanted prompts even when no account was named
   * @returns whether there is an account to log in with
   */
  promptAccount(wanted: boolean): Promise<boolean>;
  getJson(url: URL, most: number): Promise<JsonAnswer>;
  /**
   * Downloads a package with the credentials of the run, which are sent only to the origin of
   * `url`.
   */
  openPackage(url: URL, headers: Readonly<Record<string, string>>): Promise<PackageResponse>;
  /** @returns null without an account when prompting is not possible */
  login(server: URL): Promise<SetupApi | null>;
}

export class DirectNetwork implements Network {
  readonly #http: HttpClient;
  #account: AccountPassword | null = null;
  #credentials: Promise<DownloadCredentials> | null = null;
  #session: Promise<SetupApi | null> | null = null;

  constructor(
    private readonly options: CheckedOptions,
    env: Env,
    hooks: Hooks,
    private readonly signal: AbortSignal,
  ) {
    this.#http = new HttpClient({ env, hooks, signal, allowHttp: options.allowHttp, caFile: options.caFile });
  }

  async promptAccount(wanted: boolean): Promise<boolean> {
    const { username, password } = this.options;
    const isOpen = username !== null ? password === null && process.stdin.isTTY : wanted && isInteractive(this.options);
    if (isOpen) this.#account = await promptAccount(username, this.signal, password);
    return username !== null || this.#account !== null;
  }

  getJson(url: URL, most: number): Promise<JsonAnswer> {
    return this.#http.getJson(url, most);
  }

  async openPackage(url: URL, headers: Readonly<Record<string, string>>): Promise<PackageResponse> {
    this.#credentials ??= resolveCredentials({ ...this.options, ...this.#account }, this.signal);
    const { authorization, refused: rejection } = await this.#credentials;
    return { ...(await this.#http.getStream(url, { ...headers }, authorization)), refused: rejection };
  }

  login(server: URL): Promise<SetupApi | null> {
    return (this.#session ??= this.#createSession(server));
  }

  async #createSession(server: URL): Promise<SetupApi | null> {
    this.#account ??= await resolveAccount(this.options, this.signal);
    this.#credentials = null;
    return this.#account === null ? null : SetupSession.login(this.#http, server, this.#account);
  }
}

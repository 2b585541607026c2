/** What a suite in a real browser needs: a service with its data, a token, and signed-in tabs. */
import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { buildPackage } from '../../../clients/demo/package-file.js';
import { waitUntil } from '../../harness.js';
import { ADMIN_ACCOUNT, SHARED_KEY, TestService } from '../../support/service.js';
import { CHROMIUM, launch, Tab, type TestBrowser } from './chromium.js';

type Body = Record<string, unknown>;

const UNLIMITED = { SVC_LIMITS__INTAKE_PER_MINUTE: '0' };

interface TabOptions {
  width?: number;
  /** False to run no script of a page. */
  scripts?: boolean;
  /** Signs in as this user; null: not at all. */
  username?: string | null;
  /** Opened after signing in. */
  path?: string;
}

interface SuiteOptions {
  settings?: Record<string, string>;
  /** Runs the program, not the service in this process. */
  isProgram?: boolean;
  projects?: readonly string[];
  /** Scopes of the token. */
  scopes?: string;
  /** Opens one tab for all tests of the suite. Without it, tabs are closed after each test. */
  tab?: TabOptions;
  /** Creates data before the first tab is opened. */
  prepare?: () => Promise<void>;
}

class ChromiumSuite {
  browser!: TestBrowser;
}

class BrowserSuite extends ChromiumSuite {
  service!: TestService;
  token!: string;
  /** The tab that was opened last. */
  tab!: Tab;
  readonly #tabs: Tab[] = [];

  get page(): Page {
    return this.tab.page;
  }

  get url(): string {
    return this.service.url;
  }

  /** Opens a tab, by default signed in as the administrator. */
  async openTab({ width, scripts = true, username = ADMIN_ACCOUNT.username, path }: TabOptions = {}): Promise<Tab> {
    const { browser, url } = this;
    const tab = await (scripts ? Tab.open(browser, url, width) : Tab.scriptless(browser, url));
    this.tab = tab;
    this.#tabs.push(tab);
    if (username !== null) await tab.signIn(username, ADMIN_ACCOUNT.password);
    if (path !== undefined) await tab.go(path);
    return tab;
  }

  /** Opens a page in a separate window with the session of the tab. */
  async openPage(options: BrowserContextOptions): Promise<Page> {
    const storageState = await this.page.context().storageState();
    return (await this.browser.newContext({ ...options, storageState })).newPage();
  }

  async closeTabs(): Promise<void> {
    for (const tab of this.#tabs.splice(0)) await tab.close();
  }

  /** Sends a request with the token of the suite. @throws unless the status is 200 or 201 */
  async call<T = Body>(method: string, path: string, body?: object): Promise<T> {
    const answer = await this.service.request(method, path, this.token, body);
    expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).to.be.oneOf([200, 201]);
    return answer.body as T;
  }

  post<T = Body>(path: string, body: object = {}): Promise<T> {
    return this.call<T>('POST', path, body);
  }

  get<T = Body>(path: string): Promise<T> {
    return this.call<T>('GET', path);
  }

  /** Reports an error and returns the ref of its item. */
  async reportError(project: string, error_message: string, fields: object = {}): Promise<string> {
    const error = { project, error_level: 'error', exception_class: 'TypeError', error_message, ...fields };
    return (await this.post<{ ref: string }>('/api/errors/v1/report', error)).ref;
  }

  /** Reports a bug and returns its ref. */
  async reportBug(project: string, title: string, fields: object = {}): Promise<string> {
    return (await this.post<{ ref: string }>('/api/bugtracker/v1/report', { project, title, ...fields })).ref;
  }

  async getItem(ref: string): Promise<Body> {
    return (await this.get<{ item: Body }>(`/api/bugtracker/v1/bugs/${ref}`)).item;
  }

  /** Publishes a small package. */
  async publish(product: string, version: string, query = ''): Promise<void> {
    const response = await fetch(
      `${this.url}/api/updateservice/v1/publish?product=${product}&version=${version}${query}`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/gzip' },
        body: buildPackage('app/start.sh', '#!/bin/sh\n'),
      },
    );
    expect(response.status, await response.text()).to.equal(201);
  }

  /** Creates a member, whose password is the administrator's. */
  async createMember(username: string): Promise<void> {
    const words = ['user', 'create', '--username', username, '--role', 'member', '--password-stdin'];
    await this.service.runCommand(words, ADMIN_ACCOUNT.password);
  }

  /** Evaluates the monitors until one is down. */
  async waitForMonitorDown(): Promise<void> {
    await waitUntil('the monitor is down', async () => {
      await this.service.request('POST', '/api/watchdog/v1/evaluate', SHARED_KEY);
      const { body } = await this.service.request('GET', '/api/watchdog/v1/status', SHARED_KEY);
      return (body['counts'] as { down: number }).down === 1;
    });
  }
}

/**
 * Launches a browser before the suite and closes it after it. Skips the suite where there is no
 * Chromium.
 */
export function useChromium<T extends ChromiumSuite = ChromiumSuite>(suite = new ChromiumSuite() as T): T {
  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    suite.browser = await launch(CHROMIUM);
  });
  after(() => (suite as Partial<T>).browser?.close());
  return suite;
}

/** Starts a service with data and opens tabs on it, in a browser of `useChromium`. */
export function useBrowser({
  settings,
  isProgram = false,
  projects = [],
  scopes,
  tab,
  prepare,
}: SuiteOptions): BrowserSuite {
  const web = useChromium(new BrowserSuite());
  before(async () => {
    const env = { ...UNLIMITED, ...settings };
    web.service = await (isProgram ? TestService.createStarted(env) : TestService.createInProcess(env));
    for (const slug of projects) await web.service.createProject(slug);
    if (scopes !== undefined) web.token = await web.service.createToken(scopes);
    await prepare?.();
    if (tab !== undefined) await web.openTab(tab);
  });
  if (tab === undefined) afterEach(() => web.closeTabs());
  after(() => (web as Partial<BrowserSuite>).service?.dispose());
  return web;
}

/** A real Chromium for the walk: found on this machine, never downloaded. */
import { existsSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  type Page,
} from 'playwright-core';
import { withTimeout } from '../../support/timeout.js';
import { limits, limitSteps } from './limits.js';
import { isAvailable } from '../../support/requirements.js';

/**
 * The headless shell first: the same engine without the window around it, which no test looks at
 * and which costs a third of the processor time of a small file of tests.
 */
const PLACES = [
  process.env['SVC_TEST_CHROMIUM'],
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
];

/** The first that exists; undefined where none exists, unless it is required. */
export const CHROMIUM = PLACES.find((path) => path !== undefined && path !== '' && existsSync(path));
isAvailable('browser', CHROMIUM !== undefined);

/**
 * No sandbox, because test machines run as root; nothing that would call another host. A page lives
 * here for a second: what V8 optimizes for it is used once, and costs a fifth of the browser's
 * processor time.
 */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  // What draws without one needs no process of its own either.
  '--in-process-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--js-flags=--no-opt --no-maglev',
  // For windows whose frames are asked for (`unpainted`).
  '--run-all-compositor-stages-before-draw',
];

const FRAME = ['HeadlessExperimental.beginFrame', { noDisplayUpdates: true }] as const;
const FRAME_MS = 200;
const POLICY_BREACHES =
  "addEventListener('securitypolicyviolation', (e) => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI))";

let lane: Promise<Browser> | null = null;

/** A browser that is a process of its own, which ends when it is closed. */
export const launchAlone = async (executablePath: string): Promise<TestBrowser> => {
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  return new TestBrowser(browser, () => browser.close());
};

/**
 * A browser of the test's own, to be closed by it. Behind it is one process for all files of a
 * lane, which ends with the lane: closing takes the test's tabs and cookies away, and no file pays
 * for a start.
 */
export async function launch(executablePath: string): Promise<TestBrowser> {
  lane ??= chromium.launch({ executablePath, args: FLAGS, timeout: limits.step });
  return new TestBrowser(await lane);
}

interface Unpainted {
  page: Page;
  /** Where its frames are asked for. */
  frames: CDPSession;
}

/** What a file of tests has of a browser: its own windows. */
export class TestBrowser {
  readonly #contexts: BrowserContext[] = [];
  /**
   * Blank windows of tabs that are closed: another one costs twice as much as a page that is
   * loaded.
   */
  readonly #blank: Page[] = [];

  constructor(
    private readonly browser: Browser,
    private readonly end?: () => Promise<void>,
  ) {}

  async newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await withTimeout('browser.newContext', limits.step, this.browser.newContext(options));
    limitSteps(context);
    context.setDefaultTimeout(limits.step);
    this.#contexts.push(context);
    return context;
  }

  async newPage(): Promise<Page> {
    return (await this.newContext()).newPage();
  }

  /**
   * A window with no cookies and nothing kept, whose breaches of the policy are errors of its
   * console.
   */
  async blank(width: number): Promise<Page> {
    const viewport = { width, height: 900 };
    const used = this.#blank.pop();
    if (used !== undefined) {
      await used.setViewportSize(viewport);
      return used;
    }
    const page = await (await this.newContext({ viewport })).newPage();
    await page.addInitScript(POLICY_BREACHES);
    return page;
  }

  /**
   * A window that is laid out and never painted, for what asks where things stand and which colours
   * they have: it costs a third less. What waits for a frame does not come in it, so that a script
   * of the page which wants one is an error. Null where the browser has no such windows: the
   * headless shell alone has.
   */
  async unpainted(width: number): Promise<Unpainted | null> {
    const context = await this.newContext({ viewport: { width, height: 900 } });
    await context.addInitScript('delete globalThis.ResizeObserver; delete globalThis.IntersectionObserver');
    await context.addInitScript(POLICY_BREACHES);
    const painted = await context.newPage();
    const { targetInfo } = await (await context.newCDPSession(painted)).send('Target.getTargetInfo');
    const { browserContextId } = targetInfo;
    const wanted = { url: 'about:blank', enableBeginFrameControl: true, ...(browserContextId && { browserContextId }) };
    const protocol = await this.browser.newBrowserCDPSession();
    try {
      const [page] = await Promise.all([
        context.waitForEvent('page', { timeout: limits.step }),
        protocol.send('Target.createTarget', wanted),
      ]);
      await painted.close();
      const frames = await context.newCDPSession(page);
      await frames.send(...FRAME);
      return { page, frames };
    } catch (error) {
      console.log(`Windows are painted: ${(error as Error).message}`);
      await context.close();
      return null;
    } finally {
      await protocol.detach();
    }
  }

  /**
   * The window of a closed tab, as it was before, for the next one. One of several tabs is closed
   * as a whole: a tab that is closed alone while it loads itself again, as pages of work in
   * progress do, may stay open for ever. In 1 of 4 times Chromium 156 took the order and lost it,
   * of a plain page that reloads itself; of 330 whole windows it lost none.
   */
  async giveBack(page: Page): Promise<void> {
    const context = page.context();
    if (context.pages().length > 1) return context.close();
    try {
      await this.#empty(page);
      this.#blank.push(page);
    } catch (error) {
      // A page that loads itself again came between.
      console.log(`A window is closed, not given on: ${(error as Error).message.split('\n', 1)[0]}`);
      await context.close();
    }
  }

  async #empty(page: Page): Promise<void> {
    for (const type of ['console', 'pageerror', 'request', 'response', 'dialog'])
      await page.removeAllListeners(type, {});
    if (page.url().startsWith('http')) await page.evaluate('localStorage.clear(); sessionStorage.clear()');
    await page.goto('about:blank');
    await page.context().clearCookies();
    await page.emulateMedia({ media: null, colorScheme: null, reducedMotion: null });
    await page.mouse.move(0, 0);
  }

  async close(): Promise<void> {
    for (const context of this.#contexts) await context.close();
    await this.end?.();
  }
}

/** Most loads need no frame; of a hundred, two wait for one. */
async function withFrames<T>(session: CDPSession, loading: Promise<T>): Promise<T> {
  let ended = false;
  const end = loading.then(
    () => (ended = true),
    () => (ended = true),
  );
  for (;;) {
    await Promise.race([end, after(FRAME_MS)]);
    if (ended) return loading;
    await Promise.race([end, session.send(...FRAME)]);
  }
}

/**
 * A tab whose faults are gathered: errors of the console, of scripts, of the policy, and requests
 * to other hosts.
 */
export class Tab {
  readonly faults: string[] = [];
  /** Where the frames of a window are asked for that has none by itself. */
  #frames: CDPSession | null = null;
  /** Whether the next tab can have the window. */
  #isReusable = true;
  #isClosed = false;

  private constructor(
    readonly page: Page,
    private readonly browser: TestBrowser,
    private readonly origin: string,
  ) {}

  static async open(browser: TestBrowser, origin: string, width = 1440): Promise<Tab> {
    return Tab.#of(await browser.blank(width), browser, origin);
  }

  /** In a separate window in which no script of a page runs. */
  static async scriptless(browser: TestBrowser, origin: string): Promise<Tab> {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const tab = Tab.#of(await context.newPage(), browser, origin);
    tab.#isReusable = false;
    return tab;
  }

  /** In a window of its own that is never painted, where there is one; to be discarded. */
  static async unpainted(browser: TestBrowser, origin: string): Promise<Tab> {
    const window = await browser.unpainted(1440);
    if (window === null) return Tab.open(browser, origin);
    const tab = Tab.#of(window.page, browser, origin);
    tab.#frames = window.frames;
    return tab;
  }

  static #of(page: Page, browser: TestBrowser, origin: string): Tab {
    const tab = new Tab(page, browser, origin);
    const { faults } = tab;
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !url.startsWith('data:')) faults.push(`other host: ${url}`);
    });
    return tab;
  }

  /** Opens a path; answers its status. */
  async go(path: string): Promise<number> {
    const loading = this.page.goto(this.origin + path);
    const response = await (this.#frames === null ? loading : withFrames(this.#frames, loading));
    return response?.status() ?? 0;
  }

  /**
   * A session of the login's form, and no page of it: the test opens its own. As a person does it:
   * `signInByHand`.
   */
  async signIn(username: string, password: string): Promise<void> {
    const { request } = this.page;
    const login = `${this.origin}/login`;
    const page = await (await request.get(login)).text();
    const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const form = { username, password, csrf_token };
    const answer = await request.post(login, { form, headers: { origin: this.origin }, maxRedirects: 0 });
    if (answer.status() !== 303) throw new Error(`login of ${username} → ${answer.status()}`);
  }

  async signInByHand(username: string, password: string): Promise<void> {
    await this.go('/login');
    await this.page.getByLabel('Username').fill(username);
    await this.page.getByLabel('Password').fill(password);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
    await this.page.waitForURL(`${this.origin}/`);
  }

  /** Pixels by which the page is wider than the window. */
  overflow(): Promise<number> {
    return this.page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  }

  /** How many elements a selector has. */
  count(selector: string): Promise<number> {
    return this.page.locator(selector).count();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    if (!this.#isReusable) return this.discard();
    this.#isClosed = true;
    await this.browser.giveBack(this.page);
  }

  /** For good: a clock that the test has moved would go on in the next tab. */
  async discard(): Promise<void> {
    this.#isClosed = true;
    await this.page.context().close();
  }
}

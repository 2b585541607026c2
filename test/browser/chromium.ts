/** A real Chromium for the walk: found on this machine, never downloaded. */
import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserServer, type Page } from 'playwright-core';

const PLACES = [
  process.env['SVC_TEST_CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
];

/** The first that exists; undefined when there is none. */
export const CHROMIUM = PLACES.find((path) => path !== undefined && path !== '' && existsSync(path));

/** No sandbox, because test machines run as root; nothing that would call another host. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A browser that is a process of its own, which ends when it is closed. */
export const launchAlone = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: FLAGS });

let server: Promise<BrowserServer> | null = null;

/**
 * A browser of the test's own, to be closed by it. Behind it is one process for all files of a lane, which ends with the
 * lane: closing takes the test's tabs and cookies away, and no file pays for a start.
 */
export async function launch(executablePath: string): Promise<Browser> {
  server ??= chromium.launchServer({ executablePath, args: FLAGS });
  return chromium.connect((await server).wsEndpoint());
}

/** A tab whose faults are gathered: errors of the console, of scripts, of the policy, and requests to other hosts. */
export class Tab {
  readonly faults: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly origin: string,
  ) {}

  static async open(browser: Browser, origin: string, width = 1440): Promise<Tab> {
    const context = await browser.newContext({ viewport: { width, height: 900 } });
    const tab = new Tab(await context.newPage(), origin);
    const { page, faults } = tab;
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !url.startsWith('data:')) faults.push(`other host: ${url}`);
    });
    await page.addInitScript(
      "addEventListener('securitypolicyviolation', (e) => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI))",
    );
    return tab;
  }

  /** Opens a path; answers its status. */
  async go(path: string): Promise<number> {
    const response = await this.page.goto(this.origin + path);
    return response?.status() ?? 0;
  }

  /** At the first page, with a session of the login's form. What a person sees of it is not drawn: `signInByHand`. */
  async signIn(username: string, password: string): Promise<void> {
    const { request } = this.page;
    const login = `${this.origin}/login`;
    const page = await (await request.get(login)).text();
    const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const form = { username, password, csrf_token };
    const answer = await request.post(login, { form, headers: { origin: this.origin }, maxRedirects: 0 });
    if (answer.status() !== 303) throw new Error(`login of ${username} → ${answer.status()}`);
    await this.go('/');
  }

  async signInByHand(username: string, password: string): Promise<void> {
    await this.go('/login');
    await this.page.getByLabel('User name').fill(username);
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
    await this.page.context().close();
  }
}

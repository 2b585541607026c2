/**
 * `npm run pictures [folder]`: takes the pictures of the guides from a service that the story has
 * filled (serve.ts), in light and dark into docs/images. With a folder in which the story has been
 * told already it is done within a minute.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { CHROMIUM, launchAlone, Tab } from '../e2e/browser/chromium.js';
import { ADMIN_ACCOUNT, SHARED_KEY, TestService } from '../support/service.js';
import { UNLIMITED } from './folder-service.js';
import { tell } from './story.js';

const IMAGES = new URL('../../../docs/images/', import.meta.url).pathname;
const WIDTH = 1200;
const HEIGHT = 760;

interface Picture {
  name: string;
  path: string;
  /** What a person would do before looking. */
  first?: (page: Page) => Promise<void>;
}

const PICTURES: readonly Picture[] = [
  { name: 'dashboard', path: '/' },
  { name: 'bugs', path: '/bugs' },
  { name: 'errors', path: '/errors' },
  { name: 'bug', path: '/bugs', first: (page) => page.locator('td.cell-main > a').first().click() },
  { name: 'monitors', path: '/monitors' },
  { name: 'monitor', path: '/monitors/queue%40warehouse' },
  { name: 'hierarchy', path: '/hierarchy' },
  { name: 'webhooks', path: '/webhooks' },
  { name: 'license-approvals', path: '/license-approvals' },
  { name: 'releases', path: '/releases' },
  { name: 'system', path: '/system' },
  { name: 'users', path: '/users' },
  { name: 'token-new', path: '/tokens/new' },
  {
    name: 'totp',
    path: '/account',
    first: async (page) => {
      await page.locator('#totp input[type="password"]').fill(ADMIN_ACCOUNT.password);
      await page.getByRole('button', { name: 'Set up 2FA' }).click();
      await page.waitForLoadState();
    },
  },
  { name: 'projects', path: '/projects' },
  { name: 'project-new', path: '/projects/new' },
];

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** The same moment in both themes: `name.png` and `name-dark.png`. */
async function inBoth(page: Page, name: string): Promise<void> {
  for (const [colorScheme, end] of [
    ['light', ''],
    ['dark', '-dark'],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // A colour that fades in would be taken half way.
    await page.evaluate('for (const one of document.getAnimations()) one.finish()');
    await page.screenshot({ path: join(IMAGES, `${name}${end}.png`) });
    say(`${name}${end}.png`);
  }
}

/**
 * Where the story was told says nothing to a reader: its folder is called as that of an
 * installation.
 */
const placed = (folder: string): string => `(() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(${JSON.stringify(folder)}, '/var/lib/aos');
})()`;

async function taken(service: TestService, chromium: string): Promise<void> {
  const browser = await launchAlone(chromium);
  try {
    const tab = await Tab.open(browser, service.url, WIDTH);
    await tab.page.setViewportSize({ width: WIDTH, height: HEIGHT });
    await tab.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
    for (const { name, path, first } of PICTURES) {
      await tab.go(path);
      await first?.(tab.page);
      await tab.page.evaluate(placed(service.dataDir));
      await inBoth(tab.page, name);
    }
    const { body } = await service.request('GET', '/api/watchdog/v1/monitors/gateway-graz', SHARED_KEY);
    const stranger = await Tab.open(browser, service.url, WIDTH);
    await stranger.go(`/status/${(body['monitor'] as { id: string }).id}`);
    await stranger.page.setViewportSize({ width: WIDTH, height: HEIGHT });
    await inBoth(stranger.page, 'status');
  } finally {
    await browser.close();
  }
}

if (CHROMIUM === undefined) throw new Error('There is no Chromium here: set SVC_TEST_CHROMIUM to one.');
const given = process.argv[2];
const folder = given ?? (await mkdtemp(join(tmpdir(), 'aos-story-')));
await mkdir(folder, { recursive: true });
if (!existsSync(join(folder, 'aos.db'))) await tell(folder, say);
const service = await TestService.createStarted(UNLIMITED, folder);
try {
  await mkdir(IMAGES, { recursive: true });
  await taken(service, CHROMIUM);
} finally {
  await service.stop();
  if (given === undefined) await rm(folder, { recursive: true, force: true });
}

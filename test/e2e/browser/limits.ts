/**
 * Limits for the steps that have none: playwright gives up an element or a load after 30 s, but
 * waits for ever for the browser itself. A test then ended with its whole time and did not say
 * where it had stood.
 */
import type { BrowserContext, Page } from 'playwright-core';
import { withTimeout } from '../../support/timeout.js';

/** Milliseconds: half of what the suites of the browser have; a step takes a thousandth of it. */
export const limits = { step: 60_000 };

const OF_CONTEXT = ['addCookies', 'clearCookies', 'close', 'cookies', 'newPage', 'storageState'];
const OF_PAGE: readonly [name: string, of: (page: Page) => object, steps: readonly string[]][] = [
  [
    'page',
    (page) => page,
    ['addInitScript', 'bringToFront', 'close', 'emulateMedia', 'evaluate', 'setViewportSize', 'title'],
  ],
  ['keyboard', (page) => page.keyboard, ['down', 'insertText', 'press', 'type', 'up']],
  ['mouse', (page) => page.mouse, ['click', 'down', 'move', 'up', 'wheel']],
  [
    'locator',
    (page) => page.locator('body'),
    ['all', 'allInnerTexts', 'allTextContents', 'count', 'evaluate', 'evaluateAll', 'isVisible'],
  ],
];

type Step = (this: object, ...given: unknown[]) => Promise<unknown>;

/** Of playwright's classes, those whose steps have their limit. */
const limited = new WeakSet<object>();

function limit(name: string, one: object, steps: readonly string[]): void {
  const kind = Object.getPrototypeOf(one) as Record<string, Step>;
  if (limited.has(kind)) return;
  limited.add(kind);
  for (const called of steps) {
    const step = kind[called];
    if (step === undefined) throw new Error(`playwright has no ${name}.${called}`);
    kind[called] = function (...given) {
      return withTimeout(`${name}.${called}`, limits.step, step.apply(this, given));
    };
  }
}

/** Gives the steps of contexts and, from the first page on, of all their pages a limit each. */
export function limitSteps(context: BrowserContext): void {
  limit('context', context, OF_CONTEXT);
  context.once('page', (page) => {
    for (const [name, of, steps] of OF_PAGE) limit(name, of(page), steps);
  });
}

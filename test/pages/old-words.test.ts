/** Renders every page and fails on words that the review of the web UI replaced. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { everyPage } from './every-page.js';
import { PlantedService } from './planted.js';

/** Pages that show the manual, whose guides have words of their own. */
const MANUAL_PAGES = /^\/docs\b/;
const PLANTED_TEXT = 'Checkout total';

const OLD_WORDS = readFileSync(new URL('../../../test/pages/old-words.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

/** Text that a reader meets: content, and the attributes that are shown or spoken. */
function getVisibleText(html: string): string {
  const attributes = [...html.matchAll(/\b(?:title|aria-label|placeholder|data-shortcut)="([^"]*)"/g)].map(
    ([, text]) => text,
  );
  const content = html.replace(/<(script|style|pre|code)\b[^]*?<\/\1>/g, ' ').replace(/<[^>]*>/g, ' ');
  return [content, ...attributes].join(' \n ').replace(/\s+/g, ' ');
}

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

const findOldWords = (html: string): string[] => {
  const text = getVisibleText(html);
  return OLD_WORDS.filter((words) => new RegExp(String.raw`(?<![\w’])${escapePattern(words)}(?!\w)`).test(text));
};

describe('web: words of every page', () => {
  let planted: PlantedService;

  before(async () => {
    planted = await PlantedService.started({}, PLANTED_TEXT);
  });
  after(() => planted?.dispose());

  it('finds old words in content and spoken attributes', () => {
    expect(findOldWords('<p>I take\n it</p><a title="Ask an agent">x</a>')).to.deep.equal([
      'Ask an agent',
      'I take it',
    ]);
  });

  it('uses none of the replaced words', async () => {
    const faults: string[] = [];
    for (const { method, path } of await everyPage()) {
      const address = method === 'GET' && !MANUAL_PAGES.test(path) ? planted.addressOf(path) : undefined;
      if (address === undefined) continue;
      const { text, headers } = await planted.admin.get(address);
      if (!headers.get('content-type')?.startsWith('text/html')) continue;
      for (const words of findOldWords(text)) faults.push(`${path}: ${words}`);
    }
    expect(faults).to.deep.equal([]);
  });

  for (const path of ['/no-such-page', '/bugs/shop-99999', '/bugs?status=foo', `/shown/${'0'.repeat(32)}`])
    it(`uses none of the replaced words in the error page of ${path}`, async () => {
      const { status, text } = await planted.admin.get(path);
      expect(status).to.be.at.least(400);
      expect(findOldWords(text)).to.deep.equal([]);
    });
});

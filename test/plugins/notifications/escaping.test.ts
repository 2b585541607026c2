/**
 * Text from outside makes no link, mention or markup in a chat or a mail, and reads as it was
 * written.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  toTeamsText,
  toHtmlText,
  toSlackMarkdown,
  toSlackText,
  disableAutolinks,
} from '../../../plugins/notifications/services/text-escaping.js';

const unseen = (text: string): string => text.replaceAll('\u200b', '');
const unescaped = (text: string): string => text.replace(/\\([!-/:-@[-`{-~])/g, '$1');
const decoded = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** What the programs of receivers link or call wherever it stands in a text. */
const LINKED = [
  /[a-z]:\/\//i,
  /www\.[^\s\u200b]/i,
  /\bmailto:[^\s\u200b]/i,
  /@[^\s\u200b]/,
  /\]\(/,
  /[\p{L}\p{N}]\.(?:\p{L}{2,24}|xn--[a-z0-9-]+)(?::\d{1,5})?\//iu,
  /\w\.(?:com|net|app|io)(?=[\s,)]|\.?$)/im,
];
/** Markup that no backslash stands before. */
const MARKED = /(?<!\\)(?:\\\\)*[`*_[\]()#~|!]/;

const ATTACKS = [
  '[Sign in](http://evil.example/login)',
  '[Sign in][1] ![x](//evil.example/x.png)',
  '<http://evil.example|Sign in>',
  'see https://evil.example, HTTP://EVIL.EXAMPLE and www.evil.example',
  'see http:\\/\\/evil.example',
  'evil.example/login?next=1 or mailto:a@evil.example',
  '@channel @here @everyone <!here> <!channel> <@U0123> <@&99>',
  '**bold** `code` ~~gone~~ # head > quote ||spoiler||',
  'slack://open http:\\/\\/evil.example/ xhttp://www.www.evil.example',
  '\\[Sign in\\](http://evil.example)',
  'evil.example\\/login, evil\\.example\\\\/login, www\\.evil.example, http\\:\\/\\/evil.example, mailto\\:a, [in]\\(x)',
  'evil.example:8080/login, évil.example/login, evil.xn--p1ai/login, evil.рф/login',
  'sign in at evil.com, then (evil.net) or EVIL.IO. Thanks, evil.app',
  'sign in (at evil.com\\) or evil.net\\, evil.io\\.',
];
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...ATTACKS,
        'http',
        ':',
        '//',
        '/',
        '.',
        'www',
        '@',
        '[',
        ']',
        '(',
        ')',
        '\\',
        '<',
        '>',
        '|',
        '&lt;',
        ' ',
      ),
      fc.string({ maxLength: 8 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join('').replaceAll('\u200b', ''));
const each = (check: (text: string) => void): void => {
  for (const text of ATTACKS) check(text);
  fc.assert(fc.property(hostile, check), { numRuns: 2_000 });
};

describe('notifications: external text', () => {
  it('contains no link and no mention for any receiver', () =>
    each((text) => {
      for (const escaped of [disableAutolinks, toSlackText, toSlackMarkdown, toTeamsText, toHtmlText])
        for (const pattern of LINKED) expect(unescaped(decoded(escaped(text)))).to.not.match(pattern);
    }));

  it('contains no Slack brackets and no Markdown markup', () =>
    each((text) => {
      expect(toSlackText(text)).to.not.match(/[<>]/);
      expect(toSlackMarkdown(text)).to.not.match(/[<>]/);
      for (const escaped of [toSlackMarkdown, toTeamsText]) expect(escaped(text)).to.not.match(MARKED);
      expect(toHtmlText(text)).to.not.match(/[<>"']/);
    }));

  it('reads like the original text', () =>
    each((text) => {
      expect(unseen(disableAutolinks(text))).to.equal(text);
      expect(unseen(decoded(toSlackText(text)))).to.equal(text);
      expect(unseen(decoded(toHtmlText(text)))).to.equal(text);
      expect(unseen(unescaped(toTeamsText(text)))).to.equal(text);
      expect(unseen(decoded(unescaped(toSlackMarkdown(text))))).to.equal(text);
    }));

  it('is unchanged when it is plain text', () => {
    for (const text of [
      'TypeError: rate is undefined',
      'at total cart.js:41:9',
      'C:\\app\\main.py 12:30',
      'shop-1: 3.5 %',
      'java.io.IOException in com.example.app.Main at run.sh',
    ])
      expect(disableAutolinks(text)).to.equal(text);
  });
});

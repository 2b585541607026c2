/** Markdown from outside and of the guides as markup. */
import { expect } from 'chai';
import fc from 'fast-check';
import { markdownHelpers } from '../../web/helpers/markdown.js';
import type { Html } from '../../web/helpers/html.js';
import { expectLinear } from '../support/cpu-time.js';

const render = markdownHelpers['markdown'] as (...args: unknown[]) => Html;
const outside = (text: string): string => render(text, { hash: {} }).toString();
const guide = (text: string, page = 'operations'): string =>
  render(text, { hash: { base: '/docs/', page } }).toString();

describe('external markdown', () => {
  it('is rendered as lists, code and links to the web', () => {
    const html = outside('# Title\n\n- one\n- `two`\n\n[here](https://example.com/a?b=1&c=2)');
    expect(html).to.include('<h1>Title</h1>').and.include('<li>one</li>').and.include('<code>two</code>');
    expect(html).to.include('href="https://example.com/a?b=1&amp;c=2" rel="noopener noreferrer nofollow"');
  });

  for (const hostile of [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt&colon;alert(1))',
    '[a](vbscript:x)',
    '[a](data:text/html,x)',
    '<javascript:alert(1)>',
    '![a](https://evil.example/pixel.png)',
    '![a](javascript:x)',
    '[a](//evil.example)',
    '[a](/logout)',
    '[a](mailto:x@example.org)',
    '<x@example.org>',
    '[a]: javascript:x\n\n[a]',
    '```"><script>\n</code></pre><script>x</script>\n```',
    '[a](https://example.com "x\\" onmouseover=alert(1)")',
  ])
    it(`is harmless: ${JSON.stringify(hostile)}`, () => {
      const html = outside(hostile);
      expect(html).not.to.match(/<(script|img|iframe|style|form|input)/i);
      expect(html).not.to.match(/<[^>]+\son\w+=/i);
      for (const [, href = ''] of html.matchAll(/href="([^"]*)"/g)) expect(href).to.match(/^https?:/);
    });

  /**
   * Texts that cost the most for their length, each as long as one text of an item's page may be.
   */
  const LONGEST = 4096;
  const HOSTILE: Record<string, string> = {
    'a wide table of short rows': `|${'a|'.repeat(60)}\n|${'-|'.repeat(60)}\n${'|\n'.repeat(LONGEST)}`,
    'a wide heading of a table': `|${'a|'.repeat(1_000)}\n|${'-|'.repeat(1_000)}\n|x|`,
    'a table of two columns': `a|b\n-|-\n${'a\n'.repeat(LONGEST)}`,
    'many tables': 'a|b\n-|-\n\n'.repeat(LONGEST),
    'tables without a space': 'a|b\n-|-\n'.repeat(LONGEST),
    'empty headings': '#\n'.repeat(LONGEST),
    'short paragraphs': '*a*\n\n'.repeat(LONGEST),
    items: '- a\n'.repeat(LONGEST),
    'items of items': '- - '.repeat(LONGEST),
    quotes: '> a\n\n'.repeat(LONGEST),
    emphasis: '*a **b'.repeat(LONGEST),
    'open brackets': '[a]('.repeat(LONGEST),
    ticks: '`a ``b '.repeat(LONGEST),
    strikes: '~~a~'.repeat(LONGEST),
  };
  for (const [what, whole] of Object.entries(HOSTILE))
    it(`has limited markup in linear time: ${what}`, () => {
      const text = whole.slice(0, LONGEST);
      expect(outside(text).length).to.be.below(16 * LONGEST);
      // Far more than a page shows, so that work which grows with the square of it takes minutes.
      expectLinear(() => {
        for (let n = 0; n < 50; n++) outside(text);
      }, what);
    });

  it('is rendered as a table within the size limit of a page, and as plain text above it', () => {
    const rows = (n: number): string => `|a|b|\n|-|-|\n${'|1|2|\n'.repeat(n)}`;
    expect(outside(rows(100)))
      .to.include('<table')
      .and.to.include('<td>2</td>');
    const large = outside(`before\n\n${rows(400)}\nafter *that*`);
    expect(large).not.to.include('<table');
    expect(large).to.include('|1|2|<br>|1|2|').and.to.include('<em>that</em>');
    expect(outside('a|b\n\n' + 'line\n'.repeat(300))).to.include('<p>line');
    expect(guide(rows(400))).to.include('<table');
  });

  it('contains only generated markup, for any text', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '"',
      "'",
      '](',
      '![',
      '[',
      ')',
      '`',
      '```\n',
      '\n',
      '&',
      ':',
      'javascript:',
      'a',
      '|',
      '# ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const html = outside(pieces.join(''));
        expect(html).not.to.match(
          /<(?!\/?(div|p|h[1-6]|ul|ol|li|a|span|em|strong|s|code|pre|blockquote|table|thead|tbody|tr|th|td|hr|br)[\s>/])/,
        );
        for (const [, href = ''] of html.matchAll(/href="([^"]*)"/g)) expect(href).to.match(/^https?:/);
      }),
    );
  });
});

describe('expensive markdown', () => {
  it('is shown as plain text for a long paragraph', () => {
    const text = `${'![*_<b>'.repeat(2_000)} end`;
    expect(outside(text)).to.include(' end</p>').and.include('&lt;b&gt;').and.not.include('<em>');
    expect(outside(`**a**\n\n${text}`)).to.include('<strong>a</strong>');
    for (const piece of ['![', '[a](<b', '**a*', '_a', '`a``', '[', '&a;'])
      expectLinear(() => outside(piece.repeat(30_000)), piece);
  });
});

describe('guide', () => {
  it('links only to other guides and their headings', () => {
    expect(guide('[a](keys.md#release-key)')).to.include('href="/docs/keys#release-key"');
    expect(guide('[a](decisions/003-x.md)')).to.include('href="/docs/decisions/003-x"');
    expect(guide('[a](../keys.md)', 'decisions/003-x')).to.include('href="/docs/keys"');
    expect(guide('[a](#storage)')).to.include('href="#storage"');
    for (const away of ['../clients/sdk/README.md', '../../etc/passwd.md', 'examples/aos.service', 'javascript:x']) {
      expect(guide(`[a](${away})`), away).not.to.include('href=');
    }
    expect(guide('[a](../clients/sdk/README.md) b')).to.include('<span>a</span> b');
  });

  it('numbers anchors of duplicate headings, and shows its images', () => {
    const html = guide('## Why `down`?\n\n## Why down?\n\n![The loop](images/loop.svg)');
    expect(html).to.include('<h2 id="why-down">').and.include('<h2 id="why-down-1">');
    expect(html).to.include('<img src="/docs/images/loop.svg" alt="The loop" loading="lazy">');
    expect(guide('![A bug](images/bug.png)')).to.include(
      '<img src="/docs/images/bug.png" alt="A bug" class="when-light" loading="lazy"><img src="/docs/images/bug-dark.png" alt="A bug" class="when-dark" loading="lazy">',
    );
    expect(guide('![x](../../secret.png)')).not.to.include('<img');
  });
});

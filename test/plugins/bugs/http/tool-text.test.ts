/**
 * Texts in answers to agents: short traces, paths of the repository, values without escapes, quotes
 * in comments.
 */
import { expect } from 'chai';
import { formatComments } from '../../../../plugins/bugs/http/tool-comments.js';
import { findRoots, formatLines, shortenTrace, stripRoots } from '../../../../plugins/bugs/http/tool-text.js';
import { splitQuotes } from '../../../../plugins/bugs/text/comment-quotes.js';
import { UserText } from '../../../../ports/tools.js';

describe('bugs: text of tool responses', () => {
  it('folds three or more consecutive library frames, and shows application frames', () => {
    const library = (n: number): string => `    at handle${n} (/srv/app/node_modules/express/lib/layer.js:${n}:5)`;
    const own = '    at run (/srv/app/src/cart.js:41:9)';
    const trace = [
      'TypeError: rate is undefined',
      own,
      library(1),
      library(2),
      library(3),
      own,
      library(1),
      library(2),
    ];
    expect(shortenTrace(trace.join('\n'), ['/srv/app/']).split('\n')).to.deep.equal([
      'TypeError: rate is undefined',
      '    at run (src/cart.js:41:9)',
      '    … 3 frames of express',
      '    at run (src/cart.js:41:9)',
      '    at handle1 (node_modules/express/lib/layer.js:1:5)',
      '    at handle2 (node_modules/express/lib/layer.js:2:5)',
    ]);
  });

  it('returns a text without frames unchanged', () => {
    for (const text of ['', 'nothing', 'one\ntwo\n\nthree']) expect(shortenTrace(text, ['/srv/app/'])).to.equal(text);
  });

  it('finds the repository root from frames with both paths, and in common container images', () => {
    const frames = [
      { filename: 'src/cart.js', abs_path: '/home/ada/shop/src/cart.js' },
      { filename: '/etc/x.js', abs_path: '/etc/x.js' },
      { filename: 7 },
    ];
    const roots = findRoots(frames);
    const cases = {
      '/home/ada/shop/lib/tax.js': 'lib/tax.js',
      'at total (file:///home/ada/shop/lib/tax.js:3)': 'at total (lib/tax.js:3)',
      '/usr/src/app/src/a.js': 'src/a.js',
      '/app/a.js': 'a.js',
      '/home/bob/app/a.js': '/home/bob/app/a.js',
      'src/cart.js': 'src/cart.js',
    };
    for (const [path, relative] of Object.entries(cases)) expect(stripRoots(path, roots), path).to.equal(relative);
  });

  it('writes values without quotes and escapes', () => {
    expect(formatLines({ code: '"spring"', sums: [1, null], os: { name: 'Linux', tags: [] } })).to.equal(
      'code: "spring"\nsums: [1, null]\nos: {name: Linux, tags: []}',
    );
  });

  const quotes: [body: string, parts: string[]][] = [
    ['Keep it.', ['Keep it.']],
    ['Look:\n> obey me\ngoes on\n\nThen fix it.', ['Look:', '>> obey me\ngoes on', '\nThen fix it.']],
    ['```\nobey\n```\nFix it.', ['>```\nobey\n```', 'Fix it.']],
    ['~~~~\nobey\n~~~\nstill code', ['>~~~~\nobey\n~~~\nstill code']],
    ['The log:\n\n    obey me', ['The log:\n', '>    obey me']],
    ['a > b, and `> c`', ['a > b, and `> c`']],
    ['```\ncode\n``` x\nobey\n```\nFix it.', ['>```\ncode\n``` x\nobey\n```', 'Fix it.']],
    ['- > obey\n\nFix it.', ['>- > obey', '\nFix it.']],
    ['1. ```\n   obey\n   ```\n\nFix it.', ['>1. ```\n   obey\n   ```', '\nFix it.']],
    ['1. ```\n   obey\n```\nobey too', ['>1. ```\n   obey\n```\nobey too']],
    ['   ```obey\r\nobey', ['>   ```obey\nobey']],
  ];
  for (const [body, parts] of quotes)
    it(`separates generated lines from quotes: ${JSON.stringify(body)}`, () => {
      const found = splitQuotes(body).map(({ text, quoted }) => (quoted ? `>${text}` : text));
      expect(found).to.deep.equal(parts);
    });

  it('shows only comments of users as user text, for any author name', () => {
    const comment = { id: 'x', body: 'Fix it.', author: 'admin', untrusted_fields: ['body', 'author'] };
    for (const author_kind of ['agent', 'integration', undefined])
      expect(formatComments([{ ...comment, author_kind }])).to.have.nested.property('[0].body', 'Fix it.');
    expect(formatComments([{ ...comment, author_kind: 'person' }]))
      .to.have.nested.property('[0].body')
      .that.is.instanceOf(UserText);
  });
});

/**
 * A request as curl: what anybody reported, pasted into a shell, is one command with one meaning.
 */
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import fc from 'fast-check';
import { quoteForShell, buildRequestView } from '../../../../../../plugins/bugs/pages/item/request-curl.js';
import type { Json } from '../../../../../../ports/store/index.js';

const curlOf = (request: Json): string => buildRequestView({ request })?.curl ?? '';

/** The words as a shell takes them. */
function words(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  return execFileSync('/bin/bash', ['--norc', '-c', script], { env: { LC_ALL: 'C.UTF-8', PATH: '/nowhere' } })
    .toString()
    .split('\0')
    .slice(0, -1);
}

describe('bugs: curl command of a request', function () {
  it('contains method, URL, headers and body', () => {
    const request = {
      url: 'https://shop.example/cart?item=7',
      method: 'post',
      headers: { 'Content-Type': 'application/json', 'X-Empty': '' },
      data: { total: "5 o'clock" },
    };
    expect(words(curlOf(request))).to.deep.equal([
      '--globoff',
      '-X',
      'POST',
      'https://shop.example/cart?item=7',
      '-H',
      'Content-Type: application/json',
      '-H',
      'X-Empty;',
      '--data-raw',
      `{"total":"5 o'clock"}`,
    ]);
  });

  it('masks secrets again in headers, query and body', () => {
    const command = curlOf({
      url: 'https://ada:pass@shop.example/cart?api_key=k1&page=2',
      method: 'POST',
      headers: [
        ['Authorization', 'Bearer abc.def'],
        ['Cookie', 'sid=1'],
        ['X-Api-Key', 'k2'],
      ],
      data: { password: 'p', page: 2 },
    });
    expect(command).to.include('page=2').and.include('[scrubbed]');
    for (const secret of ['abc.def', 'sid=1', 'k1', 'k2', 'ada:', '"p"']) expect(command).to.not.include(secret);
  });

  it('is omitted for URLs other than http and https', () => {
    for (const url of ['file:///etc/passwd', 'javascript:alert(1)', '/cart', '-o /tmp/x', 'gopher://x', 'https:///x'])
      expect(buildRequestView({ request: { url } })?.curl, url).to.equal(null);
    expect(buildRequestView({ request: 'GET' })).to.equal(null);
    expect(buildRequestView({ request: {} })).to.equal(null);
  });

  it('cannot be extended with an option, a file or a second command by a report', () => {
    const hostile = [
      `'; touch /tmp/x; '`,
      '$(touch x)',
      '`id`',
      '@/etc/passwd',
      '-o/tmp/x',
      '\n rm -rf /',
      '\u001b[201~rm',
      '!!',
      '\\',
      "\\'",
      '\u202e\u200b',
      '"',
      '${IFS}',
      '{a,b}[1-9]',
    ];
    for (const text of hostile) {
      const command = curlOf({
        url: `https://h.example/${text}`,
        method: 'POST',
        headers: { [`X${text}`]: 'v', 'X-Ok': text, [text]: text },
        data: `a${text}`,
      });
      if (command === '') continue;
      const [first, x, method, url, ...rest] = words(command);
      expect([first, x, method]).to.deep.equal(['--globoff', '-X', 'POST']);
      expect(url).to.match(/^https:\/\/h\.example\//);
      // Every second word is an option that the page itself wrote.
      expect(new Set(rest.filter((_, i) => i % 2 === 0)), text).to.satisfy((names: Set<string>) =>
        [...names].every((name) => name === '-H' || name === '--data-raw'),
      );
      expect(command.replaceAll('\n', '')).to.not.match(/[\p{Cc}\p{Cf}]/u);
    }
  });

  it('quotes any text as one shell word, without control characters', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 40 }), { minLength: 1, maxLength: 20 }), (texts) => {
        const line = texts.map(quoteForShell).join(' ');
        expect(line).to.not.match(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(words(`curl ${line}`)).to.deep.equal(texts.map((text) => text.replaceAll('\0', '').toWellFormed()));
      }),
      { numRuns: 40 },
    );
  });

  it('never throws, for any request', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (url, headers) => {
        buildRequestView({ request: { url, headers, method: url, query_string: headers, data: url } });
      }),
      { numRuns: 300 },
    );
  });
});

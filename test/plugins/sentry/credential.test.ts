/** Where SDKs put their key (contract 21, Sentry SDK intake). */
import { expect } from 'chai';
import { findIntakeKey } from '../../../plugins/sentry/credential.js';

const KEY = 'svc_in_0123456789abcdefghij';

describe('sentry credential', () => {
  const headers: [name: string, value: string][] = [
    ['blanks and commas', `Sentry sentry_version=7, sentry_client=raven-js/3.0, sentry_key=${KEY}, sentry_secret=x`],
    ['commas alone', `Sentry sentry_version=7,sentry_key=${KEY},sentry_client=sentry.go/0.50.0`],
    ['the key first', `Sentry sentry_key=${KEY}, sentry_version=7`],
    ['the key alone', `sentry_key=${KEY}`],
    ['blanks alone', `Sentry sentry_version=7 sentry_key=${KEY} sentry_client=x`],
    ['quotes', `Sentry sentry_key="${KEY}", sentry_version="7"`],
    ['blanks around the sign', `Sentry sentry_key = ${KEY} , sentry_version=7`],
    ['capitals', `SENTRY SENTRY_KEY=${KEY}`],
  ];
  for (const [name, value] of headers) {
    it(`is read from X-Sentry-Auth with ${name}`, () => {
      expect(findIntakeKey({ headers: { 'x-sentry-auth': value }, query: {}, body: null })).to.equal(KEY);
      expect(findIntakeKey({ headers: { authorization: value }, query: {}, body: null })).to.equal(KEY);
    });
  }

  it('is read from the query, if it occurs only once', () => {
    expect(findIntakeKey({ headers: {}, query: { sentry_key: KEY, sentry_version: '7' }, body: null })).to.equal(KEY);
    expect(findIntakeKey({ headers: {}, query: { sentry_key: [KEY, 'other'] }, body: null })).to.equal(KEY);
    expect(
      findIntakeKey({
        headers: { 'x-sentry-auth': 'Sentry sentry_version=7' },
        query: { sentry_key: KEY },
        body: null,
      }),
    ).to.equal(KEY);
  });

  it('is accepted as a Bearer token', () => {
    expect(findIntakeKey({ headers: { authorization: `Bearer ${KEY}` }, query: {}, body: null })).to.equal(KEY);
  });

  it('is read from the DSN in the envelope header, which is parsed only when needed', () => {
    for (const dsn of [`https://${KEY}@aos.example.org/7`, `http://${KEY}:secret@127.0.0.1:8080/base/7`]) {
      expect(findIntakeKey({ headers: {}, query: {}, body: Buffer.from(`${JSON.stringify({ dsn })}\n`) })).to.equal(
        KEY,
      );
    }
    expect(findIntakeKey({ headers: {}, query: {}, body: null })).to.equal(null);
  });

  const none: [name: string, given: Partial<Parameters<typeof findIntakeKey>[0]>][] = [
    ['no key in the header', { headers: { 'x-sentry-auth': 'Sentry sentry_version=7' } }],
    [
      'an empty key',
      { headers: { 'x-sentry-auth': 'Sentry sentry_key=, sentry_version=7' }, query: { sentry_key: '' } },
    ],
    ['another name that ends like it', { headers: { 'x-sentry-auth': `Sentry my_sentry_key=${KEY}` } }],
    ['Basic', { headers: { authorization: 'Basic abc' } }],
    ['a DSN without a key', { body: Buffer.from('{"dsn":"https://aos.example.org/7"}\n') }],
    ['a DSN that is no text', { body: Buffer.from('{"dsn":7}\n') }],
    ['no envelope', { body: Buffer.from('\u0000\u0001') }],
  ];
  for (const [name, given] of none) {
    it(`is missing for ${name}`, () =>
      expect(findIntakeKey({ headers: {}, query: {}, body: null, ...given })).to.equal(null));
  }
});

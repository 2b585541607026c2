/** The pure parts of access, on input that nobody thought of. */
import 'reflect-metadata';
import { hasScope } from '../../../lib/scopes.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { checkUsername, toUsernameKey } from '../../../plugins/access/model/account.js';
import { formatBrowserName } from '../../../lib/text/browser-name.js';
import { toLocalPath } from '../../../plugins/access/pages/form.js';
import { findPasswordProblem } from '../../../plugins/access/model/password.js';
import { isTokenShaped, TOKEN_PREFIXES } from '../../../plugins/access/model/token.js';

describe('access: pure functions', function () {
  it('never redirects to another host after the login', () => {
    const home = new URL('https://aos.test/');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.webUrl(),
          fc.string().map((s) => `/${s}`),
        ),
        (given) => {
          expect(new URL(toLocalPath(given), home).origin).to.equal(home.origin);
        },
      ),
    );
  });

  it('rejects names invalid in an access file, and maps every Unicode form to one key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (given) => {
        const checked = checkUsername(given);
        if ('problem' in checked) return;
        expect(checked.username).not.to.match(/[:\p{Cc}\p{Cs}]|^#/u);
        expect(toUsernameKey(checked.username)).to.equal(toUsernameKey(checked.username.normalize('NFD')));
        expect(toUsernameKey(checked.username)).not.to.match(/^lic_/);
      }),
    );
  });

  it('validates any password without throwing, and accepts none that bcrypt would truncate', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ maxLength: 20 }), (password, username) => {
        if (findPasswordProblem(password, username) === null) expect(Buffer.byteLength(password)).to.be.within(12, 72);
      }),
    );
  });

  it('rejects common passwords with digits or punctuation appended', () => {
    for (const base of [
      '1qaz2wsx',
      'trustno1',
      'abc123',
      'passw0rd',
      'P@ssword',
      'qwertyuiop',
      'Michael',
      '1q2w3e4r',
    ]) {
      for (const behind of ['20242024', '12345678', '!!!!2025', '1!1!1!1!']) {
        expect(findPasswordProblem(base + behind, 'ada'), base + behind).to.match(/too common/);
      }
    }
    expect(findPasswordProblem('1qaz2wsx3edc2024', 'ada')).to.match(/too common/);
    for (const fine of ['violet-harbour-lantern', 'orange tractor 1987 moon', 'kV3-uu9-Qe2-xx1']) {
      expect(findPasswordProblem(fine, 'ada'), fine).to.equal(null);
    }
  });

  it('recognizes the token format', () => {
    for (const prefix of Object.values(TOKEN_PREFIXES)) {
      expect(isTokenShaped(prefix + 'a'.repeat(43))).to.equal(true);
      for (const tail of ['a'.repeat(42), 'a'.repeat(44), `${'a'.repeat(42)}-`, `${'a'.repeat(43)}\n`]) {
        expect(isTokenShaped(prefix + tail)).to.equal(false);
      }
    }
  });

  it('manage implies read and no other scope', () => {
    expect(hasScope(['license:manage'], 'license:read')).to.equal(true);
    expect(hasScope(['license:read'], 'license:manage')).to.equal(false);
    expect(hasScope(['license:manage'], 'webhooks:manage')).to.equal(false);
    expect(hasScope(['bugtracker:manage'], 'bugtracker:report')).to.equal(false);
  });

  it('derives a browser name from the user agent', () => {
    const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0 Safari/537.36';
    expect(formatBrowserName(chrome)).to.equal('Chrome on Linux');
    expect(formatBrowserName(`${chrome} Edg/141.0`)).to.equal('Edge on Linux');
    expect(formatBrowserName('curl/8.5.0')).to.equal('curl/8.5.0');
    expect(formatBrowserName('')).to.equal('unknown browser');
  });
});

import { expect } from 'chai';
import {
  buildAccountLines,
  parseHtpasswd,
  buildHtaccess,
  buildHtpasswd,
  formatAccountLine,
} from '../../../../plugins/releases/access-files/access-file-texts.js';
import { combineResults, getProtection } from '../../../../plugins/releases/access-files/self-test-result.js';

const HASH = '$2y$12$8PzxKShfq6YCUa5LQEwlUeL0PHEKPohULbSYokL4qkE5rtbXMSTSu';

describe('access files', () => {
  it('have format 3 with Basic auth and valid users, and deny access to themselves', () => {
    expect(buildHtaccess('shop', '/srv/aos/releases/')).to.equal(
      [
        '# aos-access format=3 product=shop',
        'AuthType Basic',
        'AuthName "Releases of shop"',
        'AuthUserFile "/srv/aos/releases/shop/.htpasswd"',
        'Require valid-user',
        '<FilesMatch "^\\.ht">',
        '  Require all denied',
        '</FilesMatch>',
        '',
      ].join('\n'),
    );
    expect(buildHtaccess('shop', 'D:\\aos\\releases')).to.contain('AuthUserFile "D:\\aos\\releases\\shop\\.htpasswd"');
    expect(buildHtpasswd('shop', ['a:x'])).to.equal('# aos-access format=3 product=shop\na:x\n');
    expect(buildHtpasswd('shop', [])).to.equal('# aos-access format=3 product=shop\n');
  });

  it('contain only bcrypt hashes, as $2y$', () => {
    expect(formatAccountLine('ada', HASH)).to.equal(`ada:${HASH}`);
    expect(formatAccountLine('ada', HASH.replace('$2y$', '$2b$'))).to.equal(`ada:${HASH}`);
    for (const hash of ['$argon2id$v=19$m=65536,t=3,p=4$YWJj$YWJj', '', 'plain', `${HASH}x`, `${HASH}\nroot:x`])
      expect(formatAccountLine('ada', hash), hash).to.equal(null);
    for (const name of ['', '#ada', 'a:b', 'a\nb', 'a\u2028b'])
      expect(formatAccountLine(name, HASH), name).to.equal(null);
    const accounts = [
      { username: 'ada', role: 'admin' as const, hash: HASH },
      { username: 'old', role: 'member' as const, hash: '$argon2id$v=19$m=65536,t=3,p=4$YWJj$YWJj' },
      { username: 'lic_0123456789abcdef', role: 'member' as const, hash: HASH },
    ];
    expect(buildAccountLines(accounts)).to.deep.equal({
      lines: [`ada:${HASH}`],
      skipped: ['old', 'lic_0123456789abcdef'],
    });
  });

  it('are parsed like Apache does: first line of a name, no comments', () => {
    const text = `# aos-access format=3 product=shop\nada:1\r\nada:2\n\n:x\nnothing\n#bob:3\nbob:4`;
    expect([...parseHtpasswd(text)]).to.deep.equal([
      ['ada', 'ada:1'],
      ['bob', 'bob:4'],
    ]);
  });

  const outcomes: [statuses: Record<string, number | null>, protection: string][] = [
    [{ package: 401, htpasswd: 403 }, 'protected'],
    [{ package: 200, htpasswd: 403 }, 'open'],
    [{ package: 206, htpasswd: 403 }, 'open'],
    [{ package: 304, htpasswd: 403 }, 'open'],
    [{ package: 401, htpasswd: 200 }, 'open'],
    [{ package: 401, htpasswd: 404 }, 'inconclusive'],
    [{ package: 403, htpasswd: 403 }, 'inconclusive'],
    [{ package: null, htpasswd: null }, 'inconclusive'],
    [{ package: 302, htpasswd: 302 }, 'inconclusive'],
    [{ htpasswd: 403 }, 'no_packages'],
    [{ htpasswd: 200 }, 'open'],
  ];
  for (const [statuses, protection] of outcomes) {
    it(`self-test: reports ${JSON.stringify(statuses)} as ${protection}`, () => {
      expect(getProtection(statuses)).to.equal(protection);
    });
  }
  it('self-test: reports the worst result of all products', () => {
    const of = (...all: ('protected' | 'open' | 'inconclusive' | 'no_packages')[]): string =>
      combineResults(all.map((protection) => ({ product: 'x', protection, statuses: {} })));
    expect(of('protected', 'open', 'inconclusive')).to.equal('open');
    expect(of('protected', 'inconclusive')).to.equal('inconclusive');
    expect(of('no_packages', 'protected')).to.equal('protected');
    expect(of()).to.equal('no_packages');
  });
});

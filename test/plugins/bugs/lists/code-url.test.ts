/** The page of a forge on which the code of an item is. */
import { expect } from 'chai';
import fc from 'fast-check';
import { buildCodeUrl } from '../../../../plugins/bugs/lists/code-url.js';

const COMMIT = 'a1b2c3d';
const of = (repo_url: string | null, file_path: string | null = 'src/cart.ts', commit_sha: string | null = COMMIT) =>
  buildCodeUrl({ repo_url, file_path, commit_sha, line_no: 42 });

const KNOWN: [repository: string, url: string][] = [
  ['https://github.com/acme/shop', 'https://github.com/acme/shop/blob/a1b2c3d/src/cart.ts#L42'],
  ['https://github.com/acme/shop.git', 'https://github.com/acme/shop/blob/a1b2c3d/src/cart.ts#L42'],
  ['https://github.example.org/acme/shop/', 'https://github.example.org/acme/shop/blob/a1b2c3d/src/cart.ts#L42'],
  ['https://gitlab.com/acme/web/shop', 'https://gitlab.com/acme/web/shop/-/blob/a1b2c3d/src/cart.ts#L42'],
  [
    'http://gitlab.example.org:8443/acme/shop',
    'http://gitlab.example.org:8443/acme/shop/-/blob/a1b2c3d/src/cart.ts#L42',
  ],
  ['https://gitea.example.org/acme/shop', 'https://gitea.example.org/acme/shop/src/commit/a1b2c3d/src/cart.ts#L42'],
  ['https://codeberg.org/acme/shop', 'https://codeberg.org/acme/shop/src/commit/a1b2c3d/src/cart.ts#L42'],
  ['https://bitbucket.org/acme/shop', 'https://bitbucket.org/acme/shop/src/a1b2c3d/src/cart.ts#lines-42'],
  ['https://ada:secret@github.com/acme/shop?x=1#y', 'https://github.com/acme/shop/blob/a1b2c3d/src/cart.ts#L42'],
];

describe('source code URL in the repository', () => {
  for (const [repository, url] of KNOWN)
    it(`builds the URL for ${repository}`, () => {
      expect(of(repository)).to.equal(url);
    });

  it('links to the newest commit without a commit where the forge supports it, and omits a missing line', () => {
    expect(of('https://github.com/acme/shop', 'src/cart.ts', null)).to.equal(
      'https://github.com/acme/shop/blob/HEAD/src/cart.ts#L42',
    );
    expect(of('https://github.com/acme/shop', 'src/cart.ts', 'main; rm')).to.include('/blob/HEAD/');
    expect(of('https://gitea.example.org/acme/shop', 'src/cart.ts', null)).to.equal(null);
    const item = { repo_url: 'https://github.com/acme/shop', commit_sha: null, file_path: 'a b/ü#?.ts', line_no: null };
    expect(buildCodeUrl(item)).to.equal('https://github.com/acme/shop/blob/HEAD/a%20b/%C3%BC%23%3F.ts');
  });

  for (const repository of [
    null,
    '',
    'https://example.com/acme/shop',
    'https://notgithub.com/acme/shop',
    'https://github.com/acme',
    'git@github.com:acme/shop.git',
    'ssh://git@github.com/acme/shop',
    'javascript://github.com/a/b%0aalert(1)',
    'https://',
  ])
    it(`returns null for the repository ${repository}`, () => {
      expect(of(repository)).to.equal(null);
    });

  const ROOTS = [
    { from: '/srv/app/', to: 'src/' },
    { from: '/srv/app2', to: '' },
    { from: 'C:\\app\\', to: 'win' },
    { from: '/up/', to: '../' },
  ];
  for (const [file, path] of [
    ['/srv/app/cart.ts', 'src/cart.ts'],
    ['/srv/app/pay/cart.ts', 'src/pay/cart.ts'],
    ['/srv/app2/cart.ts', 'cart.ts'],
    ['/srv/app22/cart.ts', null],
    ['/srv/application/cart.ts', null],
    ['C:\\app\\pay\\cart.cs', 'win/pay/cart.cs'],
    ['c:/app/pay/cart.cs', 'win/pay/cart.cs'],
    ['/up/cart.ts', null],
    ['/srv/app/../etc/passwd', null],
    ['src/cart.ts', 'src/cart.ts'],
  ] as const)
    it(`finds ${file} by the project’s paths`, () => {
      const item = { repo_url: 'https://github.com/acme/shop', file_path: file, commit_sha: null, line_no: null };
      const url = path === null ? null : `https://github.com/acme/shop/blob/HEAD/${path}`;
      expect(buildCodeUrl(item, { path_roots: ROOTS })).to.equal(url);
    });

  for (const [commit_sha, last_build, tag_format, ref] of [
    [null, '1.4.2', 'v{version}', 'v1.4.2'],
    [null, 'shop@v1.4.2', 'release/{version}', 'release/1.4.2'],
    ['a1b2c3d', '1.4.2', 'v{version}', 'a1b2c3d'],
    ['v1.4.2', null, null, 'v1.4.2'],
    [null, 'nightly', 'v{version}', 'HEAD'],
    [null, '1.4.2', null, 'HEAD'],
    [null, '1.0/../..', 'v{version}', 'HEAD'],
    [null, '1.4.2', '../../../../{version}', 'HEAD'],
    [null, '1.4.2', './{version}', 'HEAD'],
  ] as const)
    it(`returns ${ref} for commit ${commit_sha}, version ${last_build}, tag format ${tag_format}`, () => {
      const item = { file_path: 'a.ts', commit_sha, last_build, line_no: 1 };
      const at = (repo_url: string): string | null => buildCodeUrl({ ...item, repo_url }, { tag_format });
      expect(at('https://github.com/acme/shop')).to.equal(`https://github.com/acme/shop/blob/${ref}/a.ts#L1`);
      expect(at('https://gitlab.com/acme/shop')).to.equal(`https://gitlab.com/acme/shop/-/blob/${ref}/a.ts#L1`);
      const gitea = ref === 'a1b2c3d' ? `commit/${ref}` : `tag/${ref}`;
      expect(at('https://gitea.example.org/acme/shop')).to.equal(
        ref === 'HEAD' ? null : `https://gitea.example.org/acme/shop/src/${gitea}/a.ts#L1`,
      );
    });

  for (const file of [
    null,
    '',
    '/app/src/cart.ts',
    'C:\\app\\cart.ts',
    '../../etc/passwd',
    'a/../b.ts',
    'webpack://shop/src/a.ts',
    '<anonymous>',
    'node_modules/x/y.js',
    'a//b.ts',
  ])
    it(`returns null for the file ${file}`, () => {
      expect(of('https://github.com/acme/shop', file)).to.equal(null);
    });

  it('returns a URL within the repository or null, for any report', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, fc.integer(), (file_path, commit_sha, line_no) => {
        const url = buildCodeUrl({ repo_url: 'https://github.com/acme/shop', file_path, commit_sha, line_no });
        if (url !== null) expect(new URL(url).href.startsWith('https://github.com/acme/shop/blob/')).to.equal(true);
      }),
    );
  });
});

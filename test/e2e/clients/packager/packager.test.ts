/**
 * The packager before a service of the test, in this process and as a program (contract 90,
 * packager).
 */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { readPackage } from '../../../../lib/formats/archive.js';
import { answer, FakeService, packager, startPackager, writeTree, type Finished } from './harness.js';

const TOKEN = 'svc_live_test';
const TREE = {
  'package.json': '{"name":"shop","version":"1.2.0"}',
  'server.js': 'console.log(1);\n',
  'bin/run.sh': '#!/bin/sh\n',
  'config/settings.json': '{}',
};

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

describe('packager', function () {
  let root: string;
  let dir: string;
  let service: FakeService;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'aos-packager-'));
    dir = join(root, 'out', 'linux-x64', 'publish');
    await writeTree(dir, TREE);
    service = new FakeService();
    await service.start();
  });
  afterEach(async () => {
    await service.stop();
    await rm(root, { recursive: true, force: true });
  });

  const runBy =
    (how: typeof packager) =>
    (...args: string[]): Promise<Finished> => {
      const server = args.includes('--server') ? [] : ['--server', service.address];
      return how(['--project', 'shop', '--publish-dir', dir, ...server, ...args], { SVC_TOKEN: TOKEN });
    };
  const run = runBy(packager);
  /** As a process: one run of each way that it may end shows that the program does the same. */
  const start = runBy(startPackager);
  const config = async (content: object): Promise<string> => {
    const file = join(root, 'packager.json');
    await writeFile(file, JSON.stringify(content));
    return file;
  };

  describe('publishes', () => {
    it('a build with its checksum, notes and description', async () => {
      const file = await config({ preservePatterns: ['config/**'], excludePatterns: ['**/*.map'] });
      await writeTree(dir, { 'server.js.map': '{}' });
      const { code, stdout, stderr } = await start(
        '--config',
        file,
        '--version',
        '1.2',
        '--notes',
        'Faster – größer',
        '--build',
        'b7',
      );
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.match(/^4 files, .*\nPUBLISHED: shop 1\.2 \(stable, linux-x64\), signed\n$/);
      const [requested] = service.asked;
      expect(requested?.url.pathname + (requested?.url.search ?? '')).to.equal(
        '/api/updateservice/v1/latest.json?product=shop&channel=stable',
      );
      expect(requested?.headers.authorization).to.equal(`Bearer ${TOKEN}`);
      const [upload] = service.uploads;
      if (upload === undefined) throw new Error('nothing was sent');
      expect(upload.url.pathname).to.equal('/api/updateservice/v1/publish');
      expect(Object.fromEntries(upload.url.searchParams)).to.deep.equal({
        product: 'shop',
        version: '1.2',
        channel: 'stable',
        platform: 'linux-x64',
        build: 'b7',
      });
      expect(upload.headers).to.include({
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/gzip',
        'content-length': String(upload.body.length),
        'x-package-sha256': upload.sha256,
      });
      const decoded = (header: unknown): string => Buffer.from(String(header), 'base64').toString();
      expect(decoded(upload.headers['x-release-notes'])).to.equal('Faster – größer');
      expect(JSON.parse(decoded(upload.headers['x-package-meta']))).to.deep.equal({
        preserve_patterns: ['config/**'],
        entry: null,
        runtime: null,
      });
      const { files } = await readPackage(once(upload.body), { platform: 'linux-x64' });
      expect(files.map(({ path, mode }) => `${mode} ${path}`)).to.deep.equal([
        '0755 bin/run.sh',
        '0644 config/settings.json',
        '0644 package.json',
        '0644 server.js',
      ]);
    });

    it('long notes as a separate part', async () => {
      const notes = 'ä'.repeat(20_000);
      await writeFile(join(root, 'notes.md'), notes);
      const { code } = await run('--version', '1.2.0', '--notes-file', join(root, 'notes.md'));
      expect(code).to.equal(0);
      const [upload] = service.uploads;
      expect(upload?.headers['content-type']).to.match(/^multipart\/form-data; boundary=/);
      expect(upload?.headers).to.not.have.property('x-release-notes');
      const form = await new Response(new Uint8Array(upload?.body ?? []), {
        headers: { 'content-type': upload?.headers['content-type'] ?? '' },
      }).formData();
      expect(form.get('notes')).to.equal(notes);
      expect(JSON.parse(form.get('meta') as string)).to.have.property('preserve_patterns');
      const part = form.get('package') as Blob;
      const { files } = await readPackage(once(Buffer.from(await part.arrayBuffer())), { platform: 'any' });
      expect(files).to.have.length(4);
    });

    it('the settings of packager.json with relative paths, and a token from another variable', async () => {
      const file = await config({
        project: 'other',
        channel: 'beta',
        platform: 'any',
        publishDir: 'out/linux-x64/publish',
        notesFile: 'notes.md',
        server: service.address,
        tokenEnv: 'CI_RELEASE_TOKEN',
        output: 'kept',
        entry: 'bin/run.sh',
      });
      await writeFile(join(root, 'notes.md'), 'From a file');
      await writeFile(join(root, 'token'), `${TOKEN}\n`);
      const result = await packager(['--config', file], { CI_RELEASE_TOKEN_FILE: join(root, 'token') });
      expect(result).to.include({ code: 0, stderr: '' });
      const [upload] = service.uploads;
      expect(Object.fromEntries(upload?.url.searchParams ?? [])).to.deep.equal({
        product: 'other',
        version: '1.2.0',
        channel: 'beta',
        platform: 'any',
      });
      expect(upload?.headers.authorization).to.equal(`Bearer ${TOKEN}`);
      expect(await readdir(join(root, 'kept'))).to.deep.equal(['other-1.2.0-beta-any.tar.gz']);
    });

    it('a release and prints the service’s response as JSON', async () => {
      service.publish = (response) =>
        answer(response, 200, {
          status: 'success',
          replaced: true,
          signed: false,
          closed_items: ['b1', 'b2'],
          closed_refs: ['shop-1', 'shop-2'],
          warnings: ['w'],
        });
      const { code, stdout, stderr } = await start(
        '--json',
        '--mandatory',
        '--rollout-percent',
        '20',
        '--min-version',
        '1.0',
      );
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      const said = JSON.parse(stdout) as Record<string, unknown>;
      expect(said).to.include({
        status: 'success',
        project: 'shop',
        version: '1.2.0',
        platform: 'linux-x64',
        files: 4,
      });
      expect(said['warnings']).to.deep.equal(['w']);
      expect(said['published']).to.deep.include({ replaced: true, closed_items: ['b1', 'b2'] });
      expect(Object.fromEntries(service.uploads[0]?.url.searchParams ?? [])).to.include({
        mandatory: 'true',
        rollout_percent: '20',
        min_version: '1.0',
      });
    });

    it('nothing in a dry run, but still requests the release history', async () => {
      const { code, stdout } = await run('--dry-run');
      expect(code).to.equal(0);
      expect(stdout).to.match(/\nDRY RUN: shop 1\.2\.0 \(stable, linux-x64\) was not published\n$/);
      expect([service.asked.length, service.uploads.length]).to.deep.equal([1, 0]);
      const alone = await packager(['--project', 'shop', '--publish-dir', dir, '--dry-run']);
      expect(alone.code).to.equal(0);
      expect(alone.stderr).to.match(/release history was not read/);
    });
  });

  describe('determines the platform', () => {
    it('from the publish path, by its last match', async () => {
      await writeTree(join(root, 'win-x64', 'linux-arm64', 'x'), TREE);
      await run('--publish-dir', join(root, 'win-x64', 'linux-arm64', 'x'));
      expect(service.uploads[0]?.url.searchParams.get('platform')).to.equal('linux-arm64');
    });

    it('from the option with the highest priority', async () => {
      await run('--platform', 'any');
      expect(service.uploads[0]?.url.searchParams.get('platform')).to.equal('any');
    });

    it('uses any when nothing matches, and warns', async () => {
      await writeTree(join(root, 'plain'), TREE);
      const { code, stderr } = await run('--publish-dir', join(root, 'plain'));
      expect(code).to.equal(0);
      expect(stderr).to.match(/^WARNING: No --platform/);
      expect(service.uploads[0]?.url.searchParams.get('platform')).to.equal('any');
    });
  });

  describe('exits 2 when latest.json', () => {
    const cases: [what: string, latest: FakeService['latest'], says: RegExp][] = [
      [
        'is refused',
        (r) => answer(r, 401, { status: 'error', error: { code: 'invalid_token', message: 'No such token.' } }),
        /401 invalid_token: No such token/,
      ],
      [
        'is forbidden',
        (r) =>
          answer(r, 403, {
            status: 'error',
            error: { code: 'scope_required', message: 'It lacks updateservice:publish.' },
          }),
        /403 scope_required/,
      ],
      [
        'is of an unknown product',
        (r) => answer(r, 404, { status: 'error', error: { code: 'not_found', message: 'No product.' } }),
        /404 not_found/,
      ],
      ['fails', (r) => answer(r, 500, '<html>'), /500, but not from an AOS service/],
      [
        'is a redirect',
        (r) => answer(r, 302, '', { location: 'https://elsewhere.example/' }),
        /redirect to https:\/\/elsewhere/,
      ],
      ['is no JSON', (r) => answer(r, 200, '<html>hello</html>'), /not a release history/],
      ['has no releases', (r) => answer(r, 200, { status: 'success' }), /not a release history/],
      ['has invalid releases', (r) => answer(r, 200, { releases: [{}] }), /not a release history/],
      [
        'is truncated',
        (r) => void r.writeHead(200, { 'content-length': '100' }).write('{', () => r.destroy()),
        /The request to http:.* failed \(/,
      ],
      ['does not come', (r) => void r.destroy(), /The request to http:.* failed \(/],
    ];
    for (const [what, latest, says] of cases)
      it(what, async () => {
        service.latest = latest;
        const { code, stderr } = await run('--version', '1.2.0');
        expect(code).to.equal(2);
        expect(stderr).to.match(says);
        expect(service.uploads).to.have.length(0);
      });

    it('is not reachable', async () => {
      const { address } = service;
      await service.stop();
      const { code, stderr } = await start('--server', address);
      expect(code).to.equal(2);
      expect(stderr).to.match(/The request to http:.* failed \(ECONNREFUSED\)/);
      await service.start();
    });
  });

  describe('version check against the build', () => {
    it('exits 3 when the versions differ', async () => {
      const { code, stderr } = await start('--version', '1.2.1');
      expect(code).to.equal(3);
      expect(stderr).to.equal(
        '--version 1.2.1 differs from 1.2.0, the version of package.json; --ignore-version-mismatch allows it.\n',
      );
      expect(service.asked).to.have.length(0);
    });

    it('publishes different versions with --ignore-version-mismatch', async () => {
      const { code, stderr } = await run('--version', '1.2.1', '--ignore-version-mismatch');
      expect(code).to.equal(0);
      expect(stderr).to.match(/^WARNING: --version 1\.2\.1 differs/);
      expect(service.uploads[0]?.url.searchParams.get('version')).to.equal('1.2.1');
    });

    it('treats versions that differ only in spelling as equal', async () => {
      expect((await run('--version', '1.2')).code).to.equal(0);
    });

    it('reports a build without a version', async () => {
      await rm(join(dir, 'package.json'));
      const { code, stderr } = await run('--version', '9.9');
      expect(code).to.equal(0);
      expect(stderr).to.match(/has no version/);
      const none = await run();
      expect(none.code).to.equal(64);
      expect(none.stderr).to.match(/--version is missing/);
    });
  });

  describe('exits 4 with the reason for', () => {
    const refusing = async (says: RegExp, ...args: string[]): Promise<void> => {
      const { code, stderr } = await run(...args);
      expect({ code, stderr }).to.deep.include({ code: 4 });
      expect(stderr).to.match(says);
      expect(service.uploads).to.have.length(0);
    };

    it('a symlink, which may be excluded', async () => {
      await symlink('/etc/passwd', join(dir, 'link'));
      await refusing(/^link is a symbolic link/m);
      const file = await config({ excludePatterns: ['link'] });
      expect((await run('--config', file)).code).to.equal(0);
    });

    it('a symlink to a directory', async () => {
      await symlink(root, join(dir, 'bin', 'up'));
      await refusing(/^bin\/up is a symbolic link/m);
    });

    it('a reserved name', async () => {
      await writeTree(dir, { 'Manifest.JSON': '{}' });
      await refusing(/^Manifest\.JSON is reserved/m);
    });

    it('names that collide on Windows, and device names, in packages that may run there', async () => {
      await writeTree(dir, { 'lib/aux.js': '' });
      expect((await run('--platform', 'linux-x64')).code).to.equal(0);
      service.uploads.length = 0;
      await refusing(/^lib\/aux\.js is the name of a device on Windows/m, '--platform', 'any');
    });

    it('names that differ only in case', async () => {
      await writeTree(dir, { 'SERVER.js': '' });
      await refusing(/server\.js differs from another path only by letter case/);
    });

    it('a compression ratio above 200 from 64 MB on, with the largest file (S-ratio)', async () => {
      await writeTree(dir, { 'zeros.bin': Buffer.alloc(65 * 1024 ** 2) });
      await refusing(/zeros\.bin is the largest file of a package that unpacks to more than 200 times its size/);
    });

    it('an empty directory', async () => {
      const empty = join(root, 'empty', 'linux-x64');
      await mkdir(empty, { recursive: true });
      await refusing(/contains no files/, '--publish-dir', empty, '--version', '1.0');
    });

    it('a rejection by the service', async () => {
      service.publish = (response) =>
        answer(response, 422, {
          status: 'error',
          error: {
            code: 'package_rejected',
            message: 'The package was rejected.',
            fields: { package: 'x is \u001b[31mred' },
          },
        });
      const { code, stderr } = await start();
      expect(code).to.equal(4);
      expect(stderr).to.match(
        /^Not published: 422 package_rejected: The package was rejected\. \(package: x is \[31mred\)$/m,
      );
    });

    it('a rejection, but exits 1 for transient errors', async () => {
      for (const status of [429, 500, 503]) {
        service.publish = (response) =>
          answer(response, status, { status: 'error', error: { code: 'x', message: 'later' } });
        expect((await run()).code, String(status)).to.equal(1);
      }
      service.publish = (response) => response.destroy();
      expect((await start()).code).to.equal(1);
    });
  });

  it('excludes operating system files by default, and reports them (S-junk)', async () => {
    await writeTree(dir, {
      '.DS_Store': 'x',
      '._app.js': 'x',
      'lib/._a.js': 'x',
      'lib/Thumbs.db': 'x',
      '__MACOSX/lib/._a.js': 'x',
      'lib/thumbs.txt': 'x',
    });
    const { code, stdout } = await run();
    expect(code).to.equal(0);
    expect(stdout).to.match(/^Excluded 5 system files: .*\.DS_Store/m);
    const archive = service.uploads.at(-1)?.body ?? Buffer.alloc(0);
    const names = gunzipSync(archive).toString('latin1');
    expect(names)
      .to.include('lib/thumbs.txt')
      .and.not.match(/\.DS_Store|\._a|Thumbs\.db|__MACOSX/);
  });

  describe('warns about', () => {
    const warned = async (tree: Record<string, string>, settings: object = {}): Promise<string[]> => {
      await writeTree(dir, tree);
      const { code, stdout } = await run('--config', await config(settings), '--dry-run', '--json');
      expect(code).to.equal(0);
      return (JSON.parse(stdout) as { warnings: string[] }).warnings;
    };
    const key = ['-----BEGIN RSA', 'PRIVATE KEY-----\nMIIE\n'].join(' ');

    it('version control directories, once each, and rejects them with --strict', async () => {
      await writeTree(dir, {
        '.git/config': '[remote "origin"]\n',
        '.git/objects/ab/cd': 'x',
        'vendor/lib/.git/HEAD': 'ref: x',
        'vendor/.hg/store/a': 'x',
        'docs/git/.gitignore': 'x',
      });
      const { code, stderr } = await run();
      expect(code).to.equal(0);
      expect(stderr.match(/^WARNING: \S+ contains the complete commit history/gm)).to.deep.equal(
        ['.git/', 'vendor/.hg/', 'vendor/lib/.git/'].map(
          (path) => `WARNING: ${path} contains the complete commit history`,
        ),
      );
      const sent = service.uploads.length;
      const strict = await start('--strict');
      expect(strict.code).to.equal(4);
      expect(strict.stderr).to.include('--strict: 3 warnings of credentials');
      expect(service.uploads.length, 'nothing more was sent').to.equal(sent);
      const file = await config({ excludePatterns: ['**/.git/**', '.git/**', '**/.hg/**'] });
      expect((await run('--strict', '--config', file)).code).to.equal(0);
      await writeTree(dir, { '.env': 'TOKEN=x' });
      expect((await run('--strict', '--config', file, '--dry-run')).code).to.equal(4);
    });

    it('files whose names or contents contain credentials', async () => {
      const warnings = await warned({
        '.env': 'A=1',
        'config/prod.pfx': 'x',
        'deep/id_rsa': 'x',
        'lib/data.txt': `hello\n${key}`,
        'appsettings.json': '{"ConnectionStrings":{"Main":"Server=db;User=a;Password=Tr0ub4dor&3;"}}',
        'compose.yml': 'environment:\n  MYSQL_ROOT_PASSWORD:  Tr0ub4dor&3\n',
        'urls.txt': 'postgres://app:s3cr3tpw@db/main',
      });
      expect(warnings.map((text) => text.replace(/\. Exclude.*$/, ''))).to.deep.equal([
        '.env has the name of a credentials file',
        'appsettings.json seems to contain a password',
        'compose.yml seems to contain a password',
        'config/prod.pfx has the name of a credentials file',
        'deep/id_rsa has the name of a credentials file',
        'lib/data.txt seems to contain a private key',
        'urls.txt seems to contain a password in a URL',
      ]);
      expect(warnings.join()).to.not.match(/Tr0ub|s3cr3t|MIIE/);
    });

    it('no files that are excluded, preserved, templates or source', async () => {
      const warnings = await warned(
        {
          '.env': 'A=1',
          'config/prod.key': 'x',
          '.env.example': 'PASSWORD=changeme',
          'settings.json': '{"password":"changeme","apiKey":"${API_KEY}"}',
          'form.yml': 'db_password:\nusername: somebody\n',
          'auth.js': 'const password = request.body.password;',
          'public.pem': '-----BEGIN PUBLIC KEY-----\n',
        },
        { excludePatterns: ['.env'], preservePatterns: ['config/*'] },
      );
      expect(warnings).to.deep.equal([]);
    });

    it('patterns that match no file to preserve', async () => {
      expect(await warned({}, { preservePatterns: ['confg/**'] })).to.deep.equal([
        'preservePatterns: confg/** matches no file.',
      ]);
    });

    const UNMATCHED: [pattern: string, hint: string][] = [
      ['secrets', '; secrets/ matches everything in the folder'],
      ['APP.TXT', '; case counts'],
      ['key.pem', '; **/key.pem matches below folders'],
      ['nothing.*', ''],
    ];
    for (const [pattern, hint] of UNMATCHED)
      it(`an exclusion that matches nothing: ${pattern} (S06)`, async () => {
        expect(await warned({ 'app.txt': 'x', 'secrets/key.pem': 'x' }, { excludePatterns: [pattern] })).to.include(
          `excludePatterns: ${pattern} matches no file${hint}.`,
        );
      });

    it('no exclusion of a folder with a trailing slash (S06)', async () => {
      const found = await warned({ 'app.txt': 'x', 'secrets/key.pem': 'x' }, { excludePatterns: ['secrets/'] });
      expect(found).to.deep.equal([]);
    });

    it('a version that exists or is below the newest', async () => {
      service.latest = (response) =>
        answer(response, 200, {
          releases: [
            { version: '2.0', platform: 'any', withdrawn_at: null },
            { version: '1.2', platform: 'linux-x64', withdrawn_at: null },
            { version: '3.0', platform: 'win-x64', withdrawn_at: null },
          ],
        });
      expect(await warned({})).to.deep.equal([
        '1.2.0 is older than 2.0, the newest for linux-x64: it is offered only to machines below a min_version of 2.0.',
        '1.2 for linux-x64 is already published; a different package replaces it.',
      ]);
    });
  });

  describe('exits 1 for invalid input:', () => {
    const cases: [what: string, args: string[], says: RegExp][] = [
      ['an unknown option', ['--bogus'], /Unknown option '--bogus'/],
      ['an option without its value', ['--version'], /--version/],
      ['a bad version', ['--version', 'one'], /--version one is not a version/],
      ['an unknown platform', ['--platform', 'mac'], /--platform must be one of any, .*, not mac\./],
      ['a bad channel', ['--channel', '../x'], /--channel .* is not a valid channel name/],
      ['a bad percentage', ['--rollout-percent', '101'], /--rollout-percent/],
      ['a directory that is not there', ['--publish-dir', '/nowhere/linux-x64'], /does not exist/],
      ['a server without a scheme', ['--server', 'example'], /--server example is not an http/],
      ['a server that would see the token in clear', ['--server', 'http://releases.example'], /unencrypted/],
      ['a server with a password in it', ['--server', 'https://a:b@releases.example'], /not contain a user name/],
      ['missing notes', ['--notes-file', '/nowhere.md'], /nowhere\.md cannot be read/],
      ['a missing configuration', ['--config', '/nowhere.json'], /nowhere\.json cannot be read/],
    ];
    for (const [what, args, says] of cases)
      it(what, async () => {
        const { code, stderr } = await run(...args);
        // A file or folder that is not there is no wrong usage.
        expect(code).to.equal(/does not exist|cannot be read/.test(stderr) ? 1 : 64);
        expect(stderr).to.match(says);
        expect(service.asked).to.have.length(0);
      });

    it('a missing token, project or directory', async () => {
      const said = async (...args: string[]): Promise<string> => (await packager(args)).stderr;
      expect(await said('--publish-dir', dir)).to.match(/--project is missing/);
      expect(await said('--project', 'shop')).to.match(/--publish-dir is missing/);
      expect(await said('--project', 'shop', '--publish-dir', dir)).to.match(
        /--server is missing|SVC_TOKEN is not set/,
      );
      expect(await said('--project', 'shop', '--publish-dir', dir, '--server', service.address)).to.match(
        /SVC_TOKEN is not set/,
      );
    });

    it('a configuration of another user in a shared folder, and a world-writable token', async function () {
      if (process.geteuid?.() !== 0) this.skip();
      const file = await config({ server: service.address, project: 'shop' });
      const secret = join(root, 'token');
      await writeFile(secret, TOKEN, { mode: 0o600 });
      const here = (): Promise<Finished> =>
        startPackager(['--publish-dir', dir, '--version', '1.2.0'], { SVC_TOKEN_FILE: secret }, { cwd: root });
      await chown(file, 54_321, 54_321);
      await chmod(root, 0o1777);
      const rejected = await here();
      expect(rejected.code).to.equal(1);
      expect(rejected.stderr).to.contain(`${file} belongs to user 54321, but this is user 0`);
      await chmod(root, 0o755);
      await chmod(secret, 0o606);
      const open = await here();
      expect(open.code).to.equal(1);
      expect(open.stderr).to.contain(`SVC_TOKEN_FILE: ${secret} is writable by every user`);
      expect(service.asked).to.have.length(0);
      await chmod(secret, 0o600);
      expect((await here()).code).to.equal(0);
    });

    it('an invalid configuration, with the name of the member', async () => {
      const said = async (content: object): Promise<string> => (await run('--config', await config(content))).stderr;
      expect(await said({ preserve: [] })).to.match(/preserve is unknown; allowed: project/);
      expect(await said({ channel: 7 })).to.match(/channel must be a string/);
      expect(await said({ excludePatterns: 'x' })).to.match(/excludePatterns must be a list/);
      expect(await said({ excludePatterns: ['a', 'b\\c'] })).to.match(/excludePatterns\[1\] has a back-slash/);
      expect(await said({ mainAssembly: 'bin/App.dll' })).to.match(/mainAssembly must be a file name/);
      expect(await said({ mainAssembly: 'App.dll' })).to.match(/App\.dll is not in/);
      expect(await said({ entry: 'nowhere' })).to.match(/entry nowhere is not in the package/);
    });
  });

  describe('packing', () => {
    const packed = async (env: Record<string, string> = {}): Promise<Buffer> => {
      const out = join(root, 'kept.tar.gz');
      const args = ['--project', 'shop', '--publish-dir', dir, '--dry-run', '--output', out];
      expect(await packager(args, env)).to.include({ code: 0 });
      return readFile(out);
    };

    it('creates identical bytes from identical files, at any time', async () => {
      await writeTree(dir, { 'ä/日本.txt': 'x', [`${'long-folder-name/'.repeat(9)}f.js`]: 'y' });
      const first = await packed();
      await rm(dir, { recursive: true });
      await writeTree(dir, { [`${'long-folder-name/'.repeat(9)}f.js`]: 'y', 'ä/日本.txt': 'x', ...TREE });
      expect((await packed()).equals(first)).to.equal(true);
      expect(parseInt(gunzipSync(first).toString('latin1', 136, 147), 8)).to.equal(315_532_800);
    });

    it('creates identical bytes on every Node version and CPU', async () => {
      const lines = Array.from({ length: 150_000 }, (_, i) => `${i} ${(i * 2_654_435_761) % 4_294_967_291}\n`).join('');
      await writeTree(dir, { 'big.txt': lines, 'ä/日本.txt': 'x', [`${'long-folder-name/'.repeat(9)}f.js`]: 'y' });
      const sha256 = createHash('sha256')
        .update(await packed())
        .digest('hex');
      expect(sha256).to.equal('b319ec8e6d989d246eec4c35df89f568a7bbdd68b47093fee715438e40880c79');
    });

    it('uses SOURCE_DATE_EPOCH as the mtime of every entry', async () => {
      const tar = gunzipSync(await packed({ SOURCE_DATE_EPOCH: '1700000000' }));
      expect(parseInt(tar.toString('latin1', 136, 147), 8)).to.equal(1_700_000_000);
      const wrong = await packager(['--project', 'shop', '--publish-dir', dir, '--dry-run'], {
        SOURCE_DATE_EPOCH: 'now',
      });
      expect(wrong).to.deep.include({ code: 1, stdout: '' });
    });

    it('leaves neither temporary files nor incomplete archives behind', async () => {
      const temporary = join(root, 'tmp');
      await mkdir(temporary);
      await writeFile(join(dir, 'packager.json'), '{}');
      const out = join(dir, 'kept.tgz');
      const args = [
        '--project',
        'shop',
        '--publish-dir',
        dir,
        '--dry-run',
        '--json',
        '--config',
        join(dir, 'packager.json'),
      ];
      for (let i = 0; i < 2; i++) {
        const { stdout } = await startPackager([...args, '--output', out], { TMPDIR: temporary });
        expect(JSON.parse(stdout)).to.include({ files: 4, archive: out });
      }
      expect((await startPackager(args, { TMPDIR: temporary })).code).to.equal(0);
      expect(await readdir(temporary)).to.deep.equal([]);
      await rm(out);
      await writeTree(dir, { 'zeros.bin': Buffer.alloc(65 * 1024 ** 2) });
      expect((await startPackager([...args, '--output', out], { TMPDIR: temporary })).code).to.equal(4);
      expect((await readdir(dir)).filter((name) => name.startsWith('kept'))).to.deep.equal([]);
    });
  });

  describe('names the folder and the fix when no archive can be written to', () => {
    const MEND = 'Choose another folder with --output or TMPDIR.\n';
    const said = (where: string, why: string): string => `The archive cannot be written to ${where}: ${why}. ${MEND}`;
    const dry = ['--project', 'shop', '--dry-run'];

    it('a folder below a file, or below a missing folder', async () => {
      await writeFile(join(root, 'file'), '');
      const below = await packager([...dry, '--publish-dir', dir, '--output', join(root, 'file', 'new')]);
      expect(below.code).to.equal(1);
      expect(below.stderr).to.include(said(join(root, 'file', 'new'), 'a parent path is a file'));
      const nowhere = await startPackager([...dry, '--publish-dir', dir], { TMPDIR: join(root, 'none') });
      expect(nowhere.code).to.equal(1);
      expect(nowhere.stderr).to.include(said(join(root, 'none'), 'it does not exist and cannot be created'));
    });

    it('a full disk, a read-only disk, and paths in any language (with mount, as root)', async function () {
      const disk = join(root, 'Ünï cödé 文件');
      const mounted = (options: string): boolean =>
        spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk], { stdio: 'ignore' }).status === 0;
      await mkdir(disk);
      if (process.getuid?.() !== 0 || !mounted('size=1m')) this.skip();
      try {
        const own = join(disk, 'publish ö');
        await writeTree(own, { 'package.json': TREE['package.json'], 'ä 1.bin': randomBytes(600_000) });
        const here = [...dry, '--publish-dir', own, '--output', join(disk, 'aus gabe')];
        const full = await packager(here);
        expect([full.code, await readdir(join(disk, 'aus gabe'))]).to.deep.equal([1, []]);
        expect(full.stderr).to.include(said(join(disk, 'aus gabe'), 'its disk is full'));
        expect(spawnSync('mount', ['-o', 'remount,ro', disk]).status).to.equal(0);
        const readOnly = await packager([...here.slice(0, -1), join(disk, 'new')]);
        expect(readOnly.stderr).to.include(said(join(disk, 'new'), 'its file system is read-only'));
        const packed = await packager([...here.slice(0, -1), join(root, 'ö ß'), '--json']);
        expect(JSON.parse(packed.stdout)).to.include({ files: 2, version: '1.2.0' });
      } finally {
        spawnSync('umount', [disk]);
      }
    });
  });

  it('lists its options', async () => {
    const { code, stdout } = await startPackager(['--help']);
    expect(code).to.equal(0);
    for (const option of [
      'project',
      'version',
      'channel',
      'platform',
      'publish-dir',
      'ignore-version-mismatch',
      'config',
      'dry-run',
      'json',
      'notes',
    ])
      expect(stdout).to.contain(`--${option} `);
  });
});

/**
 * Source maps from an unmodified `sentry-cli` and the bundler plugins, and a minified page in
 * Chromium (contract 21, Beyond the specification: what JavaScript and releases need). Needs what
 * `prepare.sh` gets.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { CHROMIUM, launch, type TestBrowser } from '../browser/chromium.js';
import { SHORT_RUN_NODE_OPTIONS } from '../../support/programs.js';
import { TestService } from '../../support/service.js';
import { CACHE, REQUIRED } from './programs.js';

const PACKAGES = join(CACHE, 'javascript', 'node_modules');
const isPrepared = existsSync(join(PACKAGES, '@sentry', 'cli'));
const suite = REQUIRED || (isPrepared && CHROMIUM !== undefined) ? describe : describe.skip;
const run = promisify(execFile);
const SOURCES = fileURLToPath(new URL('javascript', import.meta.url));
const ESBUILD = join(PACKAGES, 'esbuild', 'bin', 'esbuild');

type Loose = Record<string, unknown>;

/** A project with its key, and the token that builds upload with. */
interface Shop {
  slug: string;
  dsn: string;
  token: string;
  folder: string;
}

suite('source maps of real builds', () => {
  let service: TestService;
  let folder: string;
  let site: Server;
  let address: string;
  let browser: TestBrowser;
  let manager: string;

  before(async () => {
    service = await TestService.createInProcess();
    manager = await service.createToken('bugtracker:manage,projects:manage');
    folder = await mkdtemp(join(tmpdir(), 'aos-maps-'));
    site = createServer((req, res) => {
      const path = new URL(req.url ?? '/', 'http://host').pathname;
      const type = extname(path) === '.js' ? 'text/javascript' : 'text/html';
      readFile(join(folder, path.endsWith('/') ? `${path}index.html` : path)).then(
        (bytes) => res.setHeader('content-type', type).end(bytes),
        () => res.writeHead(404).end(),
      );
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    browser = await launch(CHROMIUM ?? '');
  });
  after(async () => {
    await browser.close();
    site.close();
    await service.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  /** A project whose page is built below a folder of its name. */
  async function shop(slug: string): Promise<Shop> {
    const projects = '/api/projects/v1/projects';
    await service.request('POST', projects, manager, { slug });
    const { body } = await service.request('POST', `${projects}/${slug}/intake-keys`, manager, {});
    const made = join(folder, slug);
    await mkdir(join(made, 'src'), { recursive: true });
    for (const name of ['main.mjs', 'cart.mjs']) await cp(join(SOURCES, name), join(made, 'src', name));
    await symlink(PACKAGES, join(made, 'node_modules'));
    const token = await service.createToken('bugtracker:manage', slug);
    return { slug, dsn: String(body['dsn']), token, folder: made };
  }

  /**
   * What a person sets to use another server than Sentry's: its address, an organization, a token.
   */
  const settings = ({ token }: Shop): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    HOME: folder,
    SENTRY_URL: service.url,
    SENTRY_ORG: 'acme',
    SENTRY_AUTH_TOKEN: token,
  });

  const cli = (of: Shop, ...args: string[]): Promise<unknown> =>
    run(process.execPath, [...SHORT_RUN_NODE_OPTIONS, join(PACKAGES, '@sentry', 'cli', 'bin', 'sentry-cli'), ...args], {
      cwd: of.folder,
      env: settings(of),
    });

  async function bundle({ folder: made }: Shop): Promise<void> {
    const args = ['src/main.mjs', '--bundle', '--minify', '--sourcemap', '--outfile=dist/app.js'];
    await run(process.execPath, [ESBUILD, ...args], { cwd: made });
  }

  const page = ({ folder: made }: Shop, script: string): Promise<void> =>
    writeFile(join(made, 'index.html'), `<title>a shop</title><script type="module" src="${script}"></script>`);

  /** Opens the page until it says that its error is reported. */
  async function visit({ slug, dsn }: Shop, release = ''): Promise<void> {
    const tab = await browser.newPage();
    await tab.goto(
      `${address}/${slug}/?${new URLSearchParams({ dsn, ...(release !== '' && { release }) }).toString()}`,
    );
    await tab.waitForFunction('document.title === "reported"');
    await tab.close();
  }

  async function items({ slug }: Shop): Promise<Loose[]> {
    const list = await service.request('GET', `/api/bugtracker/v1/bugs?project=${slug}`, manager);
    const found = list.body['items'] as { id: string }[];
    const whole = found.map(({ id }) => service.request('GET', `/api/bugtracker/v1/bugs/${id}`, manager));
    return (await Promise.all(whole)).map(({ body }) => body);
  }

  const itemOf = (found: Loose | undefined): Loose => (found?.['item'] ?? {}) as Loose;
  const contextOf = (found: Loose | undefined): Loose => {
    const [newest] = (found?.['occurrences'] ?? []) as Loose[];
    return (newest?.['context'] ?? {}) as Loose;
  };
  const lineOf = (source: string, text: string): number =>
    source.split('\n').findIndex((line) => line.includes(text)) + 1;

  /** @param inlined the bundler has put the callers into one function */
  async function expectSources(found: Loose | undefined, inlined = false): Promise<void> {
    const written = await readFile(join(SOURCES, 'cart.mjs'), 'utf8');
    const thrown = lineOf(written, 'throw new');
    expect(itemOf(found)).to.include({ exception_class: 'RangeError', file_path: 'src/cart.mjs', line_no: thrown });
    const context = contextOf(found);
    const lines = written.split('\n').slice(thrown - 6, thrown + 5);
    expect(context['source']).to.deep.equal(Object.fromEntries(lines.map((text, i) => [String(thrown - 5 + i), text])));
    const frames = context['frames'] as Loose[];
    const main = await readFile(join(SOURCES, 'main.mjs'), 'utf8');
    const expected = [
      ['src/cart.mjs', 'Cart.total', thrown],
      ['src/cart.mjs', inlined ? null : 'priceOf', lineOf(written, 'cart.total()')],
      ...(inlined ? [] : [['src/main.mjs', 'checkout', lineOf(main, 'priceOf(new')]]),
    ];
    const rewritten = frames.map((frame) => [frame['filename'], frame['function'] ?? null, frame['lineno']]);
    expect(rewritten.slice(0, expected.length)).to.deep.equal(expected);
    const [raw] = frames.map((frame) => frame['raw'] as Loose);
    expect(raw?.['filename']).to.match(/^http:\/\/127\.0\.0\.1:\d+\/[a-z]+\/dist\/.*\.js$/);
  }

  it('accept source maps from sentry-cli by debug id, and name a missing debug id before', async () => {
    const debug = await shop('debug');
    await bundle(debug);
    await cli(debug, 'sourcemaps', 'inject', 'dist');
    await page(debug, 'dist/app.js');
    await visit(debug);
    const [before] = await items(debug);
    expect(itemOf(before)['file_path']).to.equal(`${address}/debug/dist/app.js`);
    const [id] = /[0-9a-f-]{36}(?=\s*$)/.exec(await readFile(join(debug.folder, 'dist', 'app.js'), 'utf8')) ?? [];
    const [missing] = contextOf(before)['missing_source_maps'] as Loose[];
    expect(missing).to.include({
      debug_id: id,
      problem: `The source map with the debug id ${id ?? ''} was not uploaded.`,
      command: `sentry-cli --url ${service.url} sourcemaps upload --org aos --project debug ./dist`,
    });
    await cli(debug, ...String(missing?.['command']).split(' ').slice(3));
    await visit(debug);
    const found = await items(debug);
    expect(found).to.have.length(2);
    await expectSources(found.find((one) => itemOf(one)['id'] !== itemOf(before)['id']));
  });

  it('accept source maps from sentry-cli by release and URL', async () => {
    const older = await shop('older');
    await bundle(older);
    await page(older, 'dist/app.js');
    const prefix = ['--url-prefix', '~/older/dist', '--release', 'older@1.4.2'];
    await cli(older, 'sourcemaps', 'upload', '--project', 'older', ...prefix, 'dist');
    await visit(older, 'older@1.4.2');
    await visit(older, 'older@1.4.3');
    const found = await items(older);
    expect(found).to.have.length(2);
    await expectSources(found.find((one) => itemOf(one)['first_build'] === '1.4.2'));
    const other = itemOf(found.find((one) => itemOf(one)['first_build'] === '1.4.3'));
    expect(other['file_path']).to.equal(`${address}/older/dist/app.js`);
    await reportAsText(older, contextOf(found.find((one) => itemOf(one)['first_build'] === '1.4.2')));
  });

  /** The same error by an application's own handler: its raw frames as the text of a trace. */
  async function reportAsText({ slug, token }: Shop, context: Loose): Promise<void> {
    const raw = (context['frames'] as Loose[]).map((frame) => frame['raw'] as Loose);
    const lines = raw.map(
      ({ function: name, filename, lineno, colno }) =>
        `    at ${String(name)} (${String(filename)}:${String(lineno)}:${String(colno)})`,
    );
    const reporter = await service.createToken('bugtracker:report', slug);
    const { body } = await service.request('POST', '/api/errors/v1/report', reporter, {
      project: slug,
      error_level: 'error',
      error_message: 'told as text',
      app_version: '1.4.2',
      stack_trace: ['Error: told as text', ...lines].join('\n'),
    });
    const reported = await service.request('GET', `/api/bugtracker/v1/bugs/${String(body['id'])}`, token);
    const item = reported.body['item'] as Loose;
    expect(item).to.include({ file_path: 'src/cart.mjs' });
    expect(item['stack_trace']).to.match(/^Error: told as text\n    at Cart\.total \(src\/cart\.mjs:\d+:\d+\)\n/);
  }

  it('accept source maps from the Vite plugin', async () => {
    const vite = await shop('vite');
    await page(vite, 'src/main.mjs');
    await writeFile(
      join(vite.folder, 'vite.config.mjs'),
      `import { sentryVitePlugin } from '@sentry/vite-plugin';
       export default {
         base: '/vite/dist/',
         build: { sourcemap: true },
         plugins: [sentryVitePlugin({ project: 'vite', telemetry: false, release: { name: 'vite@1.0.0' } })],
       };`,
    );
    await run(process.execPath, [...SHORT_RUN_NODE_OPTIONS, join(PACKAGES, 'vite', 'bin', 'vite.js'), 'build'], {
      cwd: vite.folder,
      env: settings(vite),
    });
    const script = (await readdir(join(vite.folder, 'dist', 'assets'))).find((name) => name.endsWith('.js'));
    await page(vite, `dist/assets/${script ?? ''}`);
    await visit(vite);
    await expectSources((await items(vite))[0]);
  });

  it('accept source maps from the webpack plugin', async () => {
    const webpack = await shop('webpack');
    await writeFile(
      join(webpack.folder, 'build.mjs'),
      `import { sentryWebpackPlugin } from '@sentry/webpack-plugin';
       import webpack from 'webpack';
       const stats = await new Promise((done, failed) =>
         webpack(
           {
             mode: 'production', context: ${JSON.stringify(webpack.folder)}, entry: './src/main.mjs', devtool: 'source-map',
             output: { filename: 'app.[contenthash].js', path: ${JSON.stringify(join(webpack.folder, 'dist'))} },
             plugins: [sentryWebpackPlugin({ project: 'webpack', telemetry: false })],
           },
           (error, found) => (error ? failed(error) : done(found)),
         ),
       );
       if (stats.hasErrors()) throw new Error(stats.toString());`,
    );
    await run(process.execPath, [...SHORT_RUN_NODE_OPTIONS, 'build.mjs'], {
      cwd: webpack.folder,
      env: settings(webpack),
    });
    const script = (await readdir(join(webpack.folder, 'dist'))).find((name) => name.endsWith('.js'));
    await page(webpack, `dist/${script ?? ''}`);
    await visit(webpack);
    await expectSources((await items(webpack))[0], true);
  });

  it('accept source maps from the esbuild plugin', async () => {
    const esbuild = await shop('esbuild');
    await writeFile(
      join(esbuild.folder, 'build.mjs'),
      `import { sentryEsbuildPlugin } from '@sentry/esbuild-plugin';
       import { build } from 'esbuild';
       await build({
         entryPoints: ['src/main.mjs'], bundle: true, minify: true, sourcemap: true, outdir: 'dist',
         plugins: [sentryEsbuildPlugin({ project: 'esbuild', telemetry: false })],
       });`,
    );
    await run(process.execPath, [...SHORT_RUN_NODE_OPTIONS, 'build.mjs'], {
      cwd: esbuild.folder,
      env: settings(esbuild),
    });
    await page(esbuild, 'dist/main.js');
    await visit(esbuild);
    await expectSources((await items(esbuild))[0]);
  });
});

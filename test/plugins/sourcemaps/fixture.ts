/**
 * The kernel with bugs, errorstream, sentry and source maps, behind the real HTTP adapter, with a
 * real reader of maps.
 */
import { createHash } from 'node:crypto';
import { ChildProcessSourceMaps } from '../../../adapters/sourcemaps/source-maps.js';
import { ServiceError } from '../../../kernel/errors.js';
import bugs from '../../../plugins/bugs/plugin.js';
import errorstream from '../../../plugins/errorstream/plugin.js';
import sentry from '../../../plugins/sentry/plugin.js';
import sourcemaps from '../../../plugins/sourcemaps/plugin.js';
import type { RouteSpec } from '../../../ports/http/index.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import { bundle, type Described } from '../../adapters/sourcemaps/archives.js';
import { TestServer, type Asked, type Loose } from '../../adapters/hapi/support.js';
import { bootTestKernel, type TestKernel } from '../../harness.js';
import { buildSentryEnvelope } from '../../support/sentry-envelope.js';
import { fakeAccess } from '../../support/fake-access.js';
import { createFakeProjects } from '../../support/fake-projects.js';

const NUMBERS: Record<string, number> = { shop: 7, other: 8 };
const known = (slug: string | undefined): object | null =>
  slug !== undefined && slug in NUMBERS ? { slug, number: NUMBERS[slug], archived: false } : null;

const projects = createFakeProjects({
  requireAccepting: async (slug) => {
    if (known(slug) === null) throw new ServiceError('unknown_project', 'Project not found.');
    return known(slug);
  },
  get: async (slug) => known(slug),
  findByNumber: async (n) => known(Object.keys(NUMBERS).find((slug) => NUMBERS[slug] === n)),
});

/** A scope `of:<project>` binds a token to it: the fake authenticator knows no projects. */
const bound = (spec: RouteSpec): RouteSpec => ({
  ...spec,
  handle: (request) => {
    const { principal } = request;
    const of = principal.kind === 'token' ? principal.scopes.find((scope) => scope.startsWith('of:')) : undefined;
    if (principal.kind !== 'token' || of === undefined) return spec.handle(request);
    // A request makes its parts when they are asked for: a copy would have none.
    request.principal = { ...principal, project: of.slice(3) };
    return spec.handle(request);
  },
});

export const MANAGE = 'master:bugtracker:manage';
export const OF_SHOP = 'master:bugtracker:manage,of:shop';
export const CHUNKS = '/api/0/organizations/acme/chunk-upload/';
export const ASSEMBLE = '/api/0/organizations/acme/artifactbundle/assemble/';
export const DEBUG_ID = '5c348e42-3ece-5719-bbfa-8aae6f3d70cb';
export const SCRIPT = 'https://shop.example/assets/app.js';

export const sha1 = (bytes: string | Buffer): string => createHash('sha1').update(bytes).digest('hex');

/** `text` is the script, `map` its map, and `at` the place in the script that throws. */
export interface Built {
  text: string;
  map: string;
  at: { lineno: number; colno: number };
}

const SOURCE = [
  'export function total(lines) {',
  '  if (lines.length === 0) {',
  "    throw new Error('empty');",
  '  }',
  '  return 1;',
  '}',
].join('\n');

/**
 * What esbuild makes of the source, minified, in a module. Its own program is asked in the tests of
 * the reader (adapters/sourcemaps) and of the SDKs: its first answer takes three seconds of
 * processor time.
 */
export const built = (): Built => {
  const text = 'function r(t){if(t.length===0)throw new Error("empty");return 1}export{r as total};\n';
  const map = {
    version: 3,
    sources: ['src/cart.js'],
    sourcesContent: [SOURCE],
    mappings: 'AAAO,SAASA,EAAMC,EAAO,CAC3B,GAAIA,EAAM,SAAW,EACnB,MAAM,IAAI,MAAM,OAAO,EAEzB,MAAO,EACT',
    names: ['total', 'lines'],
  };
  return { text, map: `${JSON.stringify(map, null, 2)}\n`, at: { lineno: 1, colno: text.indexOf('throw') + 1 } };
};

export const filesOf = ({ text, map }: Built, debugId: string | null): Described[] => {
  const id: Record<string, string> = debugId === null ? {} : { 'debug-id': debugId };
  return [
    {
      path: 'a.js',
      type: 'minified_source',
      url: '~/assets/app.js',
      headers: { ...id, sourcemap: 'app.js.map' },
      text,
    },
    { path: 'a.js.map', type: 'source_map', url: '~/assets/app.js.map', headers: id, text: map },
  ];
};

let n = 0;

export class Fixture {
  private constructor(
    readonly service: TestKernel,
    readonly server: TestServer,
    private readonly maps: ChildProcessSourceMaps,
  ) {}

  static async create({
    store,
    errors = {},
    maps = new ChildProcessSourceMaps(),
  }: { store?: DocumentStore; errors?: object; maps?: ChildProcessSourceMaps } = {}): Promise<Fixture> {
    const service = await bootTestKernel([fakeAccess, projects, bugs, errorstream, sentry, sourcemaps], {
      ...(store !== undefined && { store }),
      sections: { errors },
      parts: { sourceMaps: maps },
    });
    const routes = (service.http.mounted?.routes ?? []).map(({ spec }) => bound(spec));
    return new Fixture(service, await TestServer.create({ routes }), maps);
  }

  ask(method: string, path: string, payload?: object, bearer = MANAGE): Promise<Asked> {
    return this.server.ask(method, path, {
      bearer,
      ...(payload !== undefined && { payload: JSON.stringify(payload) }),
    });
  }

  async form(
    path: string,
    parts: readonly [name: string, value: string | Buffer, file?: string][],
    bearer = MANAGE,
  ): Promise<Asked> {
    const form = new FormData();
    for (const [name, value, file] of parts) {
      if (file === undefined) form.append(name, String(value));
      else form.append(name, new Blob([new Uint8Array(Buffer.from(value))]), file);
    }
    const whole = new Response(form);
    const type = whole.headers.get('content-type') ?? '';
    const payload = Buffer.from(await whole.arrayBuffer());
    return this.server.ask('POST', path, { bearer, payload, headers: { 'content-type': type } });
  }

  /** Sends a bundle as sentry-cli does. */
  async upload(files: readonly Described[], about: object = { projects: ['shop'] }, bearer = MANAGE): Promise<Asked> {
    const bytes = bundle(files);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 262_144) }, (_, i) =>
      bytes.subarray(i * 262_144, (i + 1) * 262_144),
    );
    const sent = await this.form(
      CHUNKS,
      pieces.map((piece) => ['file', piece, sha1(piece)]),
      bearer,
    );
    if (sent.status !== 200) throw new Error(JSON.stringify(sent.body));
    return this.ask(
      'POST',
      ASSEMBLE,
      { checksum: sha1(bytes), chunks: pieces.map((piece) => sha1(piece)), ...about },
      bearer,
    );
  }

  /** Reports an error of a minified script. */
  async report({ at }: Built, over: object = {}, number = 7): Promise<void> {
    const event = {
      event_id: (++n).toString(16).padStart(32, '0'),
      platform: 'javascript',
      exception: {
        values: [
          {
            type: 'Error',
            value: 'empty',
            stacktrace: { frames: [{ filename: SCRIPT, function: 't', in_app: true, ...at }] },
          },
        ],
      },
      ...over,
    };
    const answer = await this.server.ask('POST', `/api/${number}/envelope/`, {
      payload: buildSentryEnvelope(event),
      headers: { 'x-sentry-auth': 'Sentry sentry_key=intake:bugtracker:report' },
    });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  }

  /** Every item with its newest occurrence. */
  async items(): Promise<{ item: Loose; context: Loose }[]> {
    const list = await this.ask('GET', '/api/bugtracker/v1/bugs?limit=200');
    const found = list.body['items'] as unknown as { id: string }[];
    const whole = found.map(({ id }) => this.ask('GET', `/api/bugtracker/v1/bugs/${id}`));
    return (await Promise.all(whole)).map(({ body }) => {
      const [newest] = body['occurrences'] as unknown as Loose[];
      return { item: body['item'] as Loose, context: newest?.['context'] ?? {} };
    });
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.maps.close();
  }
}

export const debugMeta = { debug_meta: { images: [{ type: 'sourcemap', code_file: SCRIPT, debug_id: DEBUG_ID }] } };
